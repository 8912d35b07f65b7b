import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import styles from "./status-dot.module.css";

const WORDS: Readonly<Record<number, string>> = {
  [RunStatus.SCHEDULED]: "scheduled",
  [RunStatus.RUNNING]: "running",
  [RunStatus.FINISHED]: "finished",
  [RunStatus.FAILED]: "failed",
  [RunStatus.KILLED]: "killed",
  [RunStatus.LOST]: "lost",
};

/** As the query language has it. */
export function statusWord(status: RunStatus): string {
  return WORDS[status] ?? "unknown";
}

/** A dot in the colour of the status, with its word beside it or, with `bare`, in its title. */
export function StatusDot({ status, bare = false }: { status: RunStatus; bare?: boolean }) {
  const word = statusWord(status);
  if (bare)
    return <span className={`${styles.dot} ${styles[word]}`} role="img" aria-label={word} title={word} />;
  return (
    <span className={styles.status}>
      <span className={`${styles.dot} ${styles[word]}`} aria-hidden /> {word}
    </span>
  );
}
