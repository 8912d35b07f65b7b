import { Failure } from "#sdk/failure.ts";
import { visibleLines } from "../../prepare/visible-text.ts";
import styles from "./error-note.module.css";
import { pageHint } from "./page-hint.ts";
import { SignInLink } from "./sign-in-link.tsx";

/** Shown instead of content that failed: what happened, and what to do. */
export function ErrorNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const failure = Failure.from(error, location.origin);
  const hint = pageHint(failure);
  return (
    <div className={styles.note} role="alert">
      <span className={styles.message}>{visibleLines(failure.message)}</span>
      {hint !== "" && <span className={styles.hint}>{visibleLines(hint)}</span>}
      {failure.needsCredential && <SignInLink />}
      {onRetry && (
        <button type="button" className={styles.retry} onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
