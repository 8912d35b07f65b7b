/** The script of each page, by the first part of its address. */
export const pages = {
  "": () => import("../pages/home/home-page.tsx"),
  n: () => import("../pages/runs/runs-page.tsx"),
  r: () => import("../pages/run/run-page.tsx"),
  compare: () => import("../pages/compare/compare-page.tsx"),
  explore: () => import("../pages/explore/explore-page.tsx"),
  about: () => import("../pages/about/about-page.tsx"),
  access: () => import("../pages/access/access-page.tsx"),
  login: () => import("../pages/login/login-page.tsx"),
};

/** Preloads the page of an address; the router requests it again when it gets there, and reports failures. */
export function sendForPage(pathname: string): void {
  const [, first = ""] = pathname.split("/");
  if (Object.hasOwn(pages, first)) pages[first as keyof typeof pages]().catch(() => undefined);
}
