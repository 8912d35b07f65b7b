import { Failure } from "#sdk/failure.ts";
import { visibleLines } from "../../prepare/visible-text.ts";
import styles from "./error-note.module.css";

/** Shown instead of content that failed: what happened, and what to do. */
export function ErrorNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { message, hint } = Failure.from(error, location.origin);
  return (
    <div className={styles.note} role="alert">
      <span className={styles.message}>{visibleLines(message)}</span>
      {hint !== "" && <span className={styles.hint}>{visibleLines(hint)}</span>}
      {onRetry && (
        <button type="button" className={styles.retry} onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
