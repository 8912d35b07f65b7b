import { type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { withoutStack } from "#base/without-stack.ts";
import { CairnError, type ErrorCode } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { ErrorDetailSchema, type ItemErrorSchema } from "#proto/cairn/v1/error_pb.ts";
import { retryAfterOf } from "#wire/kit/http-error.ts";

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

/** Called with failures of the server itself; callers see only their incident number. */
export type OnFailure = (incident: string, error: CairnError) => void;

/**
 * The error of core in this protocol. Only errors that may be retried say when: in the fact
 * `retry_after_ms` and, rounded up to seconds, in the header or trailer `retry-after`.
 */
export function toConnectError(thrown: unknown, onFailure: OnFailure): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  const error = CairnError.from(thrown);
  if (error.reason === "QUOTA") return readyRefusal(error, () => fromCairnError(error, onFailure));
  return fromCairnError(error, onFailure);
}

/** The same for one item of a call with many. */
export function toItemError(thrown: unknown, onFailure: OnFailure): MessageInitShape<typeof ItemErrorSchema> {
  const error = toConnectError(thrown, onFailure);
  const [detail] = error.findDetails(ErrorDetailSchema);
  const said = { code: codeToString(error.code), message: error.rawMessage };
  return detail === undefined ? said : { ...said, detail };
}

function fromCairnError(error: CairnError, onFailure: OnFailure): ConnectError {
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
  const retryAfter = retryAfterOf(error);
  const metadata = retryAfter === undefined ? undefined : { "retry-after": retryAfter };
  // The stack of the cause shows where it happened.
  return withoutStack(() => new ConnectError(message, codeOf(error), metadata, [detail], error));
}

/** Refusals of clients that are too fast, by message: frequent refusals must be cheap. */
const ready = new Map<string, ConnectError>();
const READY_MAX = 256;

/** The same for a refusal, which is made once per message. */
function readyRefusal(error: CairnError, make: () => ConnectError): ConnectError {
  const key = `${error.message} ${error.retryAfterMs}`;
  let made = ready.get(key);
  if (made === undefined) {
    made = make();
    if (ready.size >= READY_MAX) ready.clear();
    ready.set(key, made);
  }
  return made;
}

/** A client that disconnected has canceled; one that the server ends for a `reason` may try again. */
function codeOf({ code, reason }: CairnError): Code {
  return code === "aborted" && reason !== undefined ? Code.Aborted : CODES[code];
}

/** Of a compressed message. */
export function unfoldsTooFar(): CairnError {
  const { messageBytesMax, decompressedRatioMax } = limits;
  return new CairnError(
    "exhausted",
    `cannot accept the message: it decompresses to more than ${messageBytesMax} bytes or ${decompressedRatioMax} times its size`,
    {
      reason: "LIMIT_EXCEEDED",
      hint: "send it in several messages, or not compressed",
      facts: { limit: String(messageBytesMax) },
    },
  );
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
