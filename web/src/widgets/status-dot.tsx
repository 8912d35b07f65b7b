import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import styles from "./status-dot.module.css";
import { wordOf } from "#lang/words/enums.ts";

/**
 * A dot in the colour of the status, with its word beside it or, with `bare`, in its title. A run with a late heartbeat
 * is not lost yet, but has another colour.
 */
export function StatusDot({
  status,
  bare = false,
  isLate = false,
}: {
  status: RunStatus;
  bare?: boolean;
  isLate?: boolean;
}) {
  const word = wordOf(RunStatus, status);
  const names = `${styles.dot} ${isLate ? styles.late : styles[word]}`;
  if (bare) return <span className={names} role="img" aria-label={word} title={word} />;
  return (
    <span className={styles.status}>
      <span className={names} aria-hidden /> {word}
    </span>
  );
}
