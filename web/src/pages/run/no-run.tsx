import { Code } from "@connectrpc/connect";
import { Link } from "@tanstack/react-router";
import { Failure } from "#sdk/failure.ts";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { Notice } from "../../widgets/notices/notice.tsx";
import styles from "./run.module.css";

/** Shown instead of a run. `error` is undefined when the run does not exist. */
export function NoRun({ id, error, onRetry }: { id: string; error: unknown; onRetry: () => void }) {
  const code = error === undefined ? Code.NotFound : Failure.from(error).code;
  const isUnknown = code === Code.NotFound || code === Code.InvalidArgument || code === Code.PermissionDenied;
  if (!isUnknown) {
    return (
      <Notice title="This run could not be read" tone="bad">
        <ErrorNote error={error} onRetry={onRetry} />
      </Notice>
    );
  }
  return (
    <Notice title="Run not found, or you may not read it">
      <p>
        Unknown run <code className={styles.breaking}>{id.slice(0, 200)}</code>. The address may be mistyped,
        the run may have been purged, or you have no access to its namespace: ask one of its maintainers for a
        role.
      </p>
      <Link to="/">Go home</Link>
    </Notice>
  );
}
