import type { ReactNode } from "react";
import styles from "./run.module.css";

/** A part of a page with a name; `tools` are on the right of it. */
export function Card({
  title,
  count,
  tools,
  children,
}: {
  title: string;
  count?: ReactNode;
  tools?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className={styles.card} aria-label={title}>
      <header className={styles.cardHead}>
        <h2>{title}</h2>
        {count !== undefined && <span className={styles.quiet}>{count}</span>}
        <span className={styles.space} />
        {tools}
      </header>
      {children}
    </section>
  );
}
