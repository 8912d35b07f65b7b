import { useSyncExternalStore } from "react";

/** Light, dark, or the setting of the system. Stored per browser. */
export type Theme = "light" | "dark" | "system";

const KEY = "cairn.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

function readTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function isDark(): boolean {
  return document.documentElement.dataset["theme"] === "dark";
}

const listeners = new Set<() => void>();

/** Returns the function that unsubscribes. */
function onThemeChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useDark(): boolean {
  return useSyncExternalStore(onThemeChange, isDark);
}

export function setTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  applyTheme();
}

export function applyTheme(): void {
  const theme = readTheme();
  document.documentElement.dataset["theme"] = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
  for (const listener of listeners) listener();
}

dark.addEventListener("change", applyTheme);
