import { Code } from "@connectrpc/connect";
import { Failure } from "#sdk/failure.ts";
import { EmptyState } from "../../widgets/empty-state.tsx";
import { ErrorNote } from "../../widgets/error-note.tsx";

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
  const isMissing = Failure.from(error).code === Code.NotFound;
  return (
    <EmptyState
      title={
        isMissing
          ? `There is no namespace “${namespace}”, or you may not see it`
          : "The runs could not be read"
      }
    >
      <ErrorNote error={error} onRetry={onRetry} />
      {isMissing && <p>Choose another on the left, or ask for access to it.</p>}
    </EmptyState>
  );
}
