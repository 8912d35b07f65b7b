import { Link } from "@tanstack/react-router";
import { Button } from "../widgets/button.tsx";
import { Keyboard, Menu, Moon, Search, Sun } from "../widgets/icons/icons.ts";
import { Name } from "../widgets/name.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { ConnectionDot } from "./connection-banner.tsx";
import { Logo } from "../widgets/logo.tsx";
import styles from "./shell.module.css";
import { setTheme, useDark } from "../widgets/theme.ts";

export function ShellHead({
  path,
  isNavOpen,
  onNav,
  onSearch,
  onKeys,
}: {
  path: string;
  isNavOpen: boolean;
  onNav: () => void;
  onSearch: () => void;
  onKeys: () => void;
}) {
  return (
    <header className={styles.head}>
      <Button
        label="Pages and namespaces"
        onClick={onNav}
        aria-expanded={isNavOpen}
        aria-controls="nav"
        className={styles.menu}
        quiet
      >
        <Menu size={16} />
      </Button>
      <Link to="/" className={styles.logo} aria-label="Cairn, home">
        <Logo /> <span className={styles.wide}>Cairn</span>
      </Link>
      <Crumbs path={path} />
      <span className={styles.space} />
      <ConnectionDot />
      <button
        type="button"
        className={styles.search}
        onClick={onSearch}
        aria-label="Search everything Ctrl K"
        aria-keyshortcuts="Control+K"
      >
        <Search size={14} aria-hidden /> <span className={styles.wide}>Search everything</span>{" "}
        <kbd className={styles.key}>Ctrl K</kbd>
      </button>
      <Button label="Keys" onClick={onKeys} aria-keyshortcuts="?" quiet>
        <Keyboard size={16} />
      </Button>
      <ThemeButton />
      <AccountMenu />
    </header>
  );
}

function Crumbs({ path }: { path: string }) {
  const names = path === "" ? [] : path.split("/");
  return (
    <nav className={styles.crumbs} aria-label="Where this is">
      {names.map((name, i) => {
        const to = names.slice(0, i + 1).join("/");
        const isLast = i === names.length - 1;
        return (
          <span key={to} className={styles.crumb}>
            {i > 0 && <span aria-hidden>/</span>}
            {isLast ? (
              <b>
                <Name text={name} />
              </b>
            ) : (
              <Link to="/n/$" params={{ _splat: to }}>
                <Name text={name} />
              </Link>
            )}
          </span>
        );
      })}
    </nav>
  );
}

function ThemeButton() {
  const dark = useDark();
  return (
    <Button
      label={dark ? "Light colours" : "Dark colours"}
      onClick={() => setTheme(dark ? "light" : "dark")}
      quiet
    >
      {dark ? <Sun size={16} /> : <Moon size={16} />}
    </Button>
  );
}
