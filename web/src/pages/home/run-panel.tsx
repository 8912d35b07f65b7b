import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { Name } from "../../widgets/name.tsx";
import { StatusDot } from "../../widgets/status-dot.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import styles from "./home.module.css";

interface RunPanelProps {
  title: string;
  runs: readonly Run[];
  /** The text if there are none. */
  none: string;
  /** The text of the link to all of them, and its query. */
  all: string;
  query?: string;
  /** Whether there is room for the whole path of a namespace. */
  isWide?: boolean;
  timeOf: (run: Run) => string;
  /** Beside the title. */
  tools?: ReactNode;
}

/** A list of a few runs, with a link to all of them. */
export function RunPanel({ title, runs, none, all, query, isWide = false, timeOf, tools }: RunPanelProps) {
  const id = title.toLowerCase().replaceAll(" ", "-");
  return (
    <section className={styles.panel} aria-labelledby={id}>
      <h2 id={id} className={styles.title}>
        {title}
        <span className={styles.space} />
        {tools}
        <Link
          to="/n/$"
          params={{ _splat: "" }}
          search={query === undefined ? {} : { q: query }}
          className={styles.all}
        >
          {all}
        </Link>
      </h2>
      {runs.length === 0 && <p className={styles.more}>{none}</p>}
      <ul className={styles.recent}>
        {runs.map((run) => (
          <li key={run.id} className={styles.run}>
            <StatusDot status={run.status} bare />
            <Link to="/r/$run" params={{ run: run.id }} className={styles.name}>
              <Name text={run.name} />
            </Link>
            <span className={styles.where} title={visibleText(run.namespace)}>
              <Name text={isWide ? run.namespace : run.namespace.slice(run.namespace.lastIndexOf("/") + 1)} />
            </span>
            <span className={styles.ago}>{timeOf(run)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
