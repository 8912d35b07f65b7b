import { CairnError, type ErrorCode } from "#lang/errors.ts";

const STATUS_BY_CODE: Readonly<Record<ErrorCode, number>> = {
  invalid: 400,
  "not-found": 404,
  exists: 409,
  precondition: 409,
  unauthenticated: 401,
  forbidden: 403,
  exhausted: 429,
  unavailable: 503,
  deadline: 504,
  aborted: 499,
  corrupt: 500,
  internal: 500,
};

/** Reasons of HTTP only, which have a status of their own. */
const STATUS_BY_REASON: ReadonlyMap<string, number> = new Map([
  ["METHOD_NOT_ALLOWED", 405],
  ["BODY_STALLED", 408],
  ["BODY_TOO_LARGE", 413],
  ["PATH_TOO_LONG", 414],
  ["UNSUPPORTED_MEDIA_TYPE", 415],
  ["RANGE", 416],
  ["DIGEST_MISMATCH", 422],
  ["UNSUPPORTED_ENCODING", 415],
]);

/** What a plain HTTP client reads about an error. Absent members are left out. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  reason?: string;
  hint?: string;
  facts?: Readonly<Record<string, string>>;
}

/**
 * `exhausted` is 429 only when waiting helps. A limit that will be the same tomorrow is 413, because
 * clients in the field repeat a 429 for ever and drop a 413.
 */
export function httpStatusOf(error: CairnError): number {
  const byReason = error.reason === undefined ? undefined : STATUS_BY_REASON.get(error.reason);
  if (byReason !== undefined) return byReason;
  if (error.code === "exhausted" && error.retryAfterMs === undefined) return 413;
  return STATUS_BY_CODE[error.code];
}

/**
 * The body for an error. What `internal` says may quote a driver or a path of this machine: the
 * caller gets `incident` instead, under which the server's log has the whole of it.
 */
export function errorBody(error: CairnError, incident?: string): ErrorBody {
  const message =
    error.code === "internal"
      ? `cannot finish the request: internal error${incident === undefined ? "" : ` "${incident}"`}`
      : error.message;
  const body: ErrorBody = { code: error.code, message };
  if (error.reason !== undefined) body.reason = error.reason;
  if (error.hint !== undefined) body.hint = error.hint;
  if (Object.keys(error.facts).length > 0) body.facts = error.facts;
  return body;
}

/** The value of Retry-After: whole seconds, at least one. */
export function retryAfterOf(error: CairnError): string | undefined {
  if (error.retryAfterMs === undefined) return undefined;
  return String(Math.max(1, Math.ceil(error.retryAfterMs / 1000)));
}
