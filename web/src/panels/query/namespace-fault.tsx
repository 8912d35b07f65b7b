import { Code } from "@connectrpc/connect";
import { Failure } from "#sdk/failure.ts";
import { Button } from "../../widgets/button.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { Name } from "../../widgets/name.tsx";
import { Notice } from "../../widgets/notices/notice.tsx";

/** Whether the query itself is invalid, which its bar shows. */
export function isQueryFault(error: unknown): boolean {
  return error !== undefined && error !== null && Failure.from(error).code === Code.InvalidArgument;
}

/** Shown instead of a page whose runs cannot be read. */
export function NamespaceFault({
  namespace,
  error,
  onRetry,
}: {
  namespace: string;
  error: unknown;
  onRetry: () => void;
}) {
  if (Failure.from(error).code !== Code.NotFound) {
    return (
      <Notice title="The runs could not be read" tone="bad">
        <ErrorNote error={error} onRetry={onRetry} />
      </Notice>
    );
  }
  return (
    <Notice title="Namespace not found, or you may not read it">
      <p>
        Unknown namespace <Name text={namespace} mono />. Choose another one on the left, or ask one of its
        maintainers for a role.
      </p>
      <Button onClick={onRetry}>Try again</Button>
    </Notice>
  );
}
