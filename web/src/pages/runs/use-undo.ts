import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** Marks an address that was set by a change of the view, which can be undone: the one before it is the same page. */
    isChange?: boolean;
  }
}

/**
 * Ctrl Z undoes the last change of columns, order, groups or charts, like Back, but never leaves the page. Text fields
 * handle it themselves.
 */
export function useUndo(): void {
  const router = useRouter();
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isUndo = event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
      const target = event.target as HTMLElement;
      if (!isUndo || target.closest("input:not([type=checkbox]), textarea") !== null) return;
      if (router.state.location.state.isChange !== true) return;
      event.preventDefault();
      router.history.back();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [router]);
}
