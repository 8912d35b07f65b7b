import { Code } from "@connectrpc/connect";
import { Failure } from "#sdk/failure.ts";
import { Button } from "../../widgets/button.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { Name } from "../../widgets/name.tsx";
import { Notice } from "../../widgets/notices/notice.tsx";

/** Whether the query itself is wrong, which its bar says. */
export function isQueryFault(error: unknown): boolean {
  return error !== undefined && error !== null && Failure.from(error).code === Code.InvalidArgument;
}

/** In place of a page whose runs cannot be read. */
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
    <Notice title="There is no such namespace, or you may not see it">
      <p>
        There is no namespace <Name text={namespace} mono /> that you may read. Choose another on the left, or
        ask whoever maintains it to let you in.
      </p>
      <Button onClick={onRetry}>Try again</Button>
    </Notice>
  );
}
