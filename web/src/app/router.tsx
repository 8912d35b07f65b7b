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
import { readAccessSearch } from "../pages/access/search.ts";
import { readCompareSearch } from "../pages/compare/search.ts";
import { readExploreSearch } from "../pages/explore/search.ts";
import { readLoginSearch } from "../pages/login/search.ts";
import { readRunSearch } from "../pages/run/search.ts";
import { readRunsSearch } from "../pages/runs/search.ts";
import { Shell } from "./shell.tsx";

/** The router keeps what a page's function leaves out; here it is left out for good. */
function only<T extends object>(read: (given: Record<string, unknown>) => T) {
  return (given: Record<string, unknown>): T => ({
    ...Object.fromEntries(Object.keys(given).map((key) => [key, undefined])),
    ...read(given),
  });
}

/**
 * All addresses. What a page shows is in its address, so that a link shows the same elsewhere; each page reads its part of the query with a function of its own,
 * which forgives whatever somebody typed.
 */
const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: PageError,
  beforeLoad: ({ location: { pathname, href } }) => {
    if (!isSignedOut() || pathname === "/login") return;
    // The router's way to say where to go instead.
    // oxlint-disable-next-line only-throw-error
    throw redirect({ to: "/login", search: href === "/" ? {} : { next: href }, replace: true });
  },
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(() => import("../pages/home/home-page.tsx"), "HomePage"),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: "/n/$",
  validateSearch: only(readRunsSearch),
  component: lazyRouteComponent(() => import("../pages/runs/runs-page.tsx"), "RunsPage"),
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/r/$run",
  validateSearch: only(readRunSearch),
  component: lazyRouteComponent(() => import("../pages/run/run-page.tsx"), "RunPage"),
});

const compare = createRoute({
  getParentRoute: () => root,
  path: "/compare",
  validateSearch: only(readCompareSearch),
  component: lazyRouteComponent(() => import("../pages/compare/compare-page.tsx"), "ComparePage"),
});

const explore = createRoute({
  getParentRoute: () => root,
  path: "/explore/$",
  validateSearch: only(readExploreSearch),
  component: lazyRouteComponent(() => import("../pages/explore/explore-page.tsx"), "ExplorePage"),
});

const about = createRoute({
  getParentRoute: () => root,
  path: "/about",
  component: lazyRouteComponent(() => import("../pages/about/about-page.tsx"), "AboutPage"),
});

const access = createRoute({
  getParentRoute: () => root,
  path: "/access",
  validateSearch: only(readAccessSearch),
  component: lazyRouteComponent(() => import("../pages/access/access-page.tsx"), "AccessPage"),
});

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: only(readLoginSearch),
  component: lazyRouteComponent(() => import("../pages/login/login-page.tsx"), "LoginPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([home, runs, run, compare, explore, about, access, login]),
  // Within the frame: from a page that failed one can go elsewhere.
  defaultErrorComponent: PageError,
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
