import type { ReactNode } from "react";
import styles from "./empty-state.module.css";

/** Where there is nothing to show: why, and what to do. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p className={styles.title}>{title}</p>
      {children}
    </div>
  );
}
