import { CSPProvider } from "@base-ui/react/csp-provider";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import type { WhoAmIResponse } from "#proto/cairn/v1/access_pb.ts";
import { useRunChanges } from "../data/live/hooks.ts";
import { namespaces, whoAmI } from "../data/queries.ts";
import { isWithoutRole } from "../data/rights.ts";
import { shortCount } from "#lang/words/numbers.ts";
import { ChartScatter, House, Info, KeyRound, List } from "../widgets/icons/icons.ts";
import { AccountMenu } from "./account-menu.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { NamespaceTree } from "./namespace-tree.tsx";
import { NoRole } from "./no-role.tsx";
import { SearchPalette } from "./search-palette.tsx";
import { ShellHead } from "./shell-head.tsx";
import styles from "./shell.module.css";
import { ShortcutSheet } from "./shortcut-sheet.tsx";
import { Logo } from "../widgets/logo.tsx";
import { useControlKey, useGoKeys, useKey } from "../widgets/use-keys.ts";
import { isDark, setTheme } from "../widgets/theme.ts";
import { useSignedOut } from "./use-signed-out.ts";

/** The frame of all pages: the head, and the tree of namespaces. Users who are not signed in see only the page. */
export function Shell() {
  const isBare = useLocation().pathname === "/login";
  useSignedOut();
  return <CSPProvider disableStyleElements>{isBare ? <BareShell /> : <SignedInShell />}</CSPProvider>;
}

/** A user without a role sees a page that says so, instead of pages whose every call is refused. */
function SignedInShell() {
  const { data: who } = useQuery(whoAmI);
  return who !== undefined && isWithoutRole(who) ? <RolelessShell who={who} /> : <FullShell />;
}

function RolelessShell({ who }: { who: WhoAmIResponse }) {
  return (
    <div className={styles.roleless}>
      <header className={styles.head}>
        <Link to="/" className={styles.logo} aria-label="Cairn, home">
          <Logo /> <span className={styles.wide}>Cairn</span>
        </Link>
        <span className={styles.space} />
        <AccountMenu />
      </header>
      <main className={styles.main}>
        <NoRole who={who} />
      </main>
    </div>
  );
}

function BareShell() {
  return (
    <main className={styles.bare}>
      <Outlet />
    </main>
  );
}

function FullShell() {
  const [opened, setOpened] = useState<"search" | "keys" | undefined>(undefined);
  const [isNavOpen, setNavOpen] = useState(false);
  const { _splat: here = "" } = useParams({ strict: false });
  const { href } = useLocation();
  const { data: tree } = useQuery(namespaces);
  const client = useQueryClient();
  useRunChanges(namespaces.queryKey, () => void client.invalidateQueries({ queryKey: namespaces.queryKey }));
  useShellKeys(setOpened);
  // On a narrow screen the tree covers the page, so it closes after a selection.
  useEffect(() => setNavOpen(false), [href]);
  const total = tree?.reduce((sum, { runCount }) => sum + Number(runCount), 0);
  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to the page
      </a>
      <ShellHead
        path={here}
        isNavOpen={isNavOpen}
        onNav={() => setNavOpen(!isNavOpen)}
        onSearch={() => setOpened("search")}
        onKeys={() => setOpened("keys")}
      />
      <nav
        id="nav"
        className={isNavOpen ? `${styles.nav} ${styles.navOpen}` : styles.nav}
        aria-label="Pages and namespaces"
      >
        <NavLink to="/" icon={<House size={14} aria-hidden />}>
          Home
        </NavLink>
        <NavLink to="/n/$" icon={<List size={14} aria-hidden />} count={total}>
          Runs
        </NavLink>
        <NavLink to="/explore/$" icon={<ChartScatter size={14} aria-hidden />} splat={here}>
          Explore
        </NavLink>
        <NavLink to="/access" icon={<KeyRound size={14} aria-hidden />}>
          Access
        </NavLink>
        <NavLink to="/about" icon={<Info size={14} aria-hidden />}>
          About
        </NavLink>
        {tree?.length !== 0 && <h2 className={styles.title}>Namespaces</h2>}
        <NamespaceTree namespaces={tree ?? []} here={here} />
      </nav>
      <main id="main" className={styles.main} tabIndex={-1}>
        <ConnectionBanner />
        <Outlet />
      </main>
      <SearchPalette open={opened === "search"} onClose={() => setOpened(undefined)} />
      <ShortcutSheet open={opened === "keys"} onClose={() => setOpened(undefined)} />
    </div>
  );
}

function NavLink({
  to,
  icon,
  count,
  splat = "",
  children,
}: {
  to: "/" | "/n/$" | "/explore/$" | "/access" | "/about";
  icon: ReactNode;
  count?: number | undefined;
  /** The current namespace, if the page has one. */
  splat?: string;
  children: string;
}) {
  const { pathname } = useLocation();
  const isHere =
    pathname === (to.replace(/\/\$$/, "") || "/") ||
    (to === "/explore/$" && pathname.startsWith("/explore/"));
  return (
    <Link
      to={to}
      params={{ _splat: splat }}
      className={isHere ? `${styles.item} ${styles.on}` : styles.item}
      aria-current={isHere ? "page" : undefined}
      activeProps={{}}
    >
      {icon} {children}
      {count !== undefined && <span className={styles.count}>{shortCount(count)}</span>}
    </Link>
  );
}

function useShellKeys(open: (what: "search" | "keys") => void): void {
  const navigate = useNavigate();
  const { _splat: here = "" } = useParams({ strict: false });
  useControlKey("k", () => open("search"));
  useKey("?", () => open("keys"));
  useKey("t", () => setTheme(isDark() ? "light" : "dark"));
  useGoKeys((key) => {
    if (key === "h") void navigate({ to: "/" });
    else if (key === "r") void navigate({ to: "/n/$", params: { _splat: "" } });
    else if (key === "e") void navigate({ to: "/explore/$", params: { _splat: here } });
  });
}
