import { Code, ConnectError } from "@connectrpc/connect";
import { CairnError, type ErrorCode } from "#core/errors.ts";
import { limits } from "#core/limits.ts";
import { ErrorDetailSchema } from "#proto/cairn/v1/error_pb.ts";

const CODES: Readonly<Record<ErrorCode, Code>> = {
  invalid: Code.InvalidArgument,
  "not-found": Code.NotFound,
  exists: Code.AlreadyExists,
  precondition: Code.FailedPrecondition,
  unauthenticated: Code.Unauthenticated,
  forbidden: Code.PermissionDenied,
  exhausted: Code.ResourceExhausted,
  unavailable: Code.Unavailable,
  deadline: Code.DeadlineExceeded,
  aborted: Code.Canceled,
  corrupt: Code.DataLoss,
  internal: Code.Internal,
};

/** Told of failures that are the server's own; callers see only the number that names them. */
export type OnFailure = (incident: string, error: CairnError) => void;

/** What is thrown inside, as this protocol says it. */
export function toConnectError(thrown: unknown, onFailure: OnFailure): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  const error = CairnError.from(thrown);
  if (error.code === "internal") {
    const incident = Math.random().toString(36).slice(2, 10);
    onFailure(incident, error);
    return new ConnectError(
      `the server failed; its log has the details under incident ${incident}`,
      Code.Internal,
    );
  }
  const message = error.hint === undefined ? error.message : `${error.message} (${error.hint})`;
  const detail = {
    desc: ErrorDetailSchema,
    value: {
      reason: error.reason ?? "",
      hint: error.hint ?? "",
      facts: {
        ...error.facts,
        ...(error.retryAfterMs !== undefined && { retry_after_ms: String(error.retryAfterMs) }),
      },
    },
  };
  return new ConnectError(message, CODES[error.code], undefined, [detail], thrown);
}

export function messageTooLarge(): CairnError {
  return new CairnError(
    "exhausted",
    `cannot accept the message: it has more than ${limits.messageBytesMax} bytes`,
    {
      reason: "LIMIT_EXCEEDED",
      hint: "send it in several messages",
      facts: { limit: String(limits.messageBytesMax) },
    },
  );
}
