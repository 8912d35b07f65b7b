import type { ReactNode } from "react";
import styles from "./notice.module.css";

/** An inline notice: what happened, and what to do. */
export function Notice({
  title,
  children,
  tone = "calm",
}: {
  title: string;
  children?: ReactNode;
  tone?: "calm" | "bad";
}) {
  return (
    <section className={`${styles.notice} ${styles[tone]}`} role={tone === "bad" ? "alert" : undefined}>
      <h1>{title}</h1>
      {children}
    </section>
  );
}
