import type { ReactNode } from "react";
import styles from "./empty-state.module.css";

/** Shown instead of empty content: why it is empty, and what to do. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p className={styles.title}>{title}</p>
      {children}
    </div>
  );
}
