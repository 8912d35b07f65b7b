import { Link } from "@tanstack/react-router";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { formatAgo } from "../../widgets/format.ts";
import { Name } from "../../widgets/name.tsx";
import { StatusDot } from "../../widgets/status-dot.tsx";
import { visibleText } from "../../widgets/text.ts";
import styles from "./home.module.css";

/** What has changed last, the newest first. */
export function RecentRuns({ runs }: { runs: readonly Run[] }) {
  return (
    <section className={styles.panel} aria-labelledby="recent">
      <h2 id="recent" className={styles.title}>
        Recent runs
        <Link to="/n/$" params={{ _splat: "" }} className={styles.all}>
          All runs
        </Link>
      </h2>
      <ul className={styles.recent}>
        {runs.map(({ id, name, namespace, status, updatedUs }) => (
          <li key={id} className={styles.run}>
            <StatusDot status={status} bare />
            <Link to="/r/$run" params={{ run: id }} className={styles.name}>
              <Name text={name} />
            </Link>
            <span className={styles.where} title={visibleText(namespace)}>
              <Name text={namespace.slice(namespace.lastIndexOf("/") + 1)} />
            </span>
            <span className={styles.ago}>{formatAgo(Number(updatedUs))}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
