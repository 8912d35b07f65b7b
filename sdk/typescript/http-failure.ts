import { Code } from "@connectrpc/connect";
import type { ErrorCode } from "#lang/errors.ts";
import { Failure, retryFacts } from "./failure.ts";

/** As calls have them. */
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
  aborted: Code.Aborted,
  corrupt: Code.DataLoss,
  internal: Code.Internal,
};

/**
 * An answer over plain HTTP that is an error. `verb` begins the message where the answer has none of its own, such as
 * `cannot upload "a.bin"`.
 */
export function httpFailure(
  verb: string,
  { status, headers }: Pick<Response, "status" | "headers">,
  body: string,
): Failure {
  const facts = retryFacts(headers);
  const error = errorIn(body);
  if (error === undefined) return new Failure(codeOfStatus(status), `${verb}: HTTP ${status}`, { facts });
  const { code, message, reason, hint } = error;
  return new Failure(CODES[code], message, { reason, hint, facts: { ...facts, ...error.facts } });
}

/**
 * The meaning of a status without an error of a Cairn server. A proxy that refuses knows nothing of the request itself, so
 * none of these is final.
 */
export function codeOfStatus(status: number): Code {
  switch (status) {
    case 401:
      return Code.Unauthenticated;
    case 403:
      return Code.PermissionDenied;
    case 404:
      return Code.NotFound;
    // No answer at all, too slow, too early, too many requests.
    case 0:
    case 408:
    case 425:
    case 429:
      return Code.Unavailable;
    case 501:
    case 505:
      return Code.Unimplemented;
    default:
      return status >= 500 ? Code.Unavailable : Code.Unimplemented;
  }
}

interface ErrorBody {
  code: ErrorCode;
  message: string;
  reason: string;
  hint: string;
  facts: Record<string, string>;
}

/** undefined for a body that is not of a Cairn server. */
function errorIn(text: string): ErrorBody | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof body !== "object" || body === null) return undefined;
  const { code, message, reason, hint, facts } = body as Record<string, unknown>;
  if (typeof code !== "string" || !Object.hasOwn(CODES, code) || typeof message !== "string")
    return undefined;
  return {
    code: code as ErrorCode,
    message,
    reason: typeof reason === "string" ? reason : "",
    hint: typeof hint === "string" ? hint : "",
    facts: Object.fromEntries(
      Object.entries(facts ?? {}).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
    ),
  };
}
