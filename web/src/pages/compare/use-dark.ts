import { useSyncExternalStore } from "react";
import { isDark, onThemeChange } from "../../app/theme.ts";

export function useDark(): boolean {
  return useSyncExternalStore(onThemeChange, isDark);
}
