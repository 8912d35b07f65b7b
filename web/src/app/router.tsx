import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { isSignedOut } from "../data/signed-out.ts";
import { NotFound } from "./not-found.tsx";
import { PageError } from "./page-error.tsx";
import { pages } from "./pages.ts";
import { readAccessSearch } from "../pages/access/search.ts";
import { readCompareSearch } from "../pages/compare/search.ts";
import { readExploreSearch } from "../pages/explore/search.ts";
import { readHomeSearch } from "../pages/home/search.ts";
import { readLoginSearch } from "../pages/login/search.ts";
import { readRunSearch } from "../pages/run/search.ts";
import { readRunsSearch } from "../pages/runs/search.ts";
import { Shell } from "./shell.tsx";

/** The router keeps parameters that a page's function leaves out; here they are removed. */
function only<T extends object>(read: (given: Record<string, unknown>) => T) {
  return (given: Record<string, unknown>): T => ({
    ...Object.fromEntries(Object.keys(given).map((key) => [key, undefined])),
    ...read(given),
  });
}

/**
 * All addresses. What a page shows is in its address, so that a link shows the same elsewhere; each page reads its part
 * of the query with its own function, which ignores invalid values.
 */
const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: PageError,
  beforeLoad: ({ location: { pathname, href } }) => {
    if (!isSignedOut() || pathname === "/login") return;
    // The router's way to redirect.
    // oxlint-disable-next-line only-throw-error
    throw redirect({ to: "/login", search: href === "/" ? {} : { next: href }, replace: true });
  },
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: only(readHomeSearch),
  component: lazyRouteComponent(pages[""], "HomePage"),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: "/n/$",
  validateSearch: only(readRunsSearch),
  component: lazyRouteComponent(pages.n, "RunsPage"),
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/r/$run",
  validateSearch: only(readRunSearch),
  component: lazyRouteComponent(pages.r, "RunPage"),
});

const compare = createRoute({
  getParentRoute: () => root,
  path: "/compare",
  validateSearch: only(readCompareSearch),
  component: lazyRouteComponent(pages.compare, "ComparePage"),
});

const explore = createRoute({
  getParentRoute: () => root,
  path: "/explore/$",
  validateSearch: only(readExploreSearch),
  component: lazyRouteComponent(pages.explore, "ExplorePage"),
});

const about = createRoute({
  getParentRoute: () => root,
  path: "/about",
  component: lazyRouteComponent(pages.about, "AboutPage"),
});

const access = createRoute({
  getParentRoute: () => root,
  path: "/access",
  validateSearch: only(readAccessSearch),
  component: lazyRouteComponent(pages.access, "AccessPage"),
});

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: only(readLoginSearch),
  component: lazyRouteComponent(pages.login, "LoginPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([home, runs, run, compare, explore, about, access, login]),
  // Within the frame, so that a user can leave a page that failed.
  defaultErrorComponent: PageError,
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
