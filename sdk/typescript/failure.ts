import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "#proto/cairn/v1/error_pb.ts";

/** The failure of a call: a message for people and a code for programs. */
export class Failure extends Error {
  readonly code: Code;
  /** A stable word such as SEQ_GAP; empty where the server gave none. */
  readonly reason: string;
  /** What a person can do about it; may be empty. */
  readonly hint: string;
  readonly facts: Readonly<Record<string, string>>;

  constructor(
    code: Code,
    message: string,
    more: { reason?: string; hint?: string; facts?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.name = "Failure";
    this.code = code;
    this.reason = more.reason ?? "";
    this.hint = more.hint ?? "";
    this.facts = more.facts ?? {};
  }

  /** Whether the call had no credential, or one that is not valid any more. */
  get needsCredential(): boolean {
    return this.code === Code.Unauthenticated;
  }

  /** From anything that a call threw. */
  static from(thrown: unknown, url = ""): Failure {
    if (thrown instanceof Failure) return thrown;
    const server = url === "" ? "the server" : url;
    if (thrown instanceof Error && thrown.name === "TimeoutError") {
      return new Failure(Code.DeadlineExceeded, `no answer from ${server} in time`, { cause: thrown });
    }
    const error = ConnectError.from(thrown);
    const detail = error.findDetails(ErrorDetailSchema)[0];
    if (detail !== undefined) {
      const { reason, hint, facts } = detail;
      // The server puts the hint into the message, too, for clients that show only the message.
      const suffix = ` (${hint})`;
      const message = error.rawMessage.endsWith(suffix)
        ? error.rawMessage.slice(0, -suffix.length)
        : error.rawMessage;
      return new Failure(error.code, message, { reason, hint, facts, cause: thrown });
    }
    const cause = networkCause(error);
    if (cause !== undefined) {
      return new Failure(Code.Unavailable, `cannot reach ${server}: ${cause}`, {
        reason: "UNREACHABLE",
        hint: "start one with `cairn serve`, or name another with --server or CAIRN_SERVER",
        cause: thrown,
      });
    }
    if (thrown instanceof ConnectError && isForeign(thrown)) {
      return new Failure(Code.Unavailable, `cannot use the answer of ${server}: ${error.rawMessage}`, {
        facts: retryFacts(error.metadata),
        cause: thrown,
      });
    }
    return new Failure(error.code, error.rawMessage, { facts: retryFacts(error.metadata), cause: thrown });
  }
}

/** When to retry, as an error of a server has it in its facts: from `retry-after`, in seconds or as a date. */
export function retryFacts(headers: Headers): Record<string, string> {
  const text = headers.get("retry-after") ?? "";
  const afterMs = /^\s*\d+\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return afterMs >= 0 ? { retry_after_ms: String(afterMs) } : {};
}

/**
 * Whether something between us and the server answered, or cut an answer off: Connect makes an error without a cause
 * of what it cannot read. A Cairn server gives neither code without a detail.
 */
function isForeign({ code, cause }: ConnectError): boolean {
  return (code === Code.Unknown || code === Code.DataLoss) && !(cause instanceof Error);
}

/** Messages of engines when no answer came or it was interrupted; the reason is in the cause, if anywhere. */
const NO_ANSWER =
  /^(?:fetch failed|Failed to fetch|Load failed|NetworkError\b|network error|terminated|Error in input stream|The network connection was lost)/;

/** The error of the network, when no answer came at all. */
function networkCause(error: ConnectError): string | undefined {
  let said: string | undefined;
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === "string" && /^E[A-Z]+|^UND_ERR/.test(code)) return inWords(at) || code;
    // The innermost is the most specific: `fetch failed` alone does not help.
    if (said !== undefined || (at instanceof TypeError && NO_ANSWER.test(at.message))) said = at.message;
  }
  return said;
}

/** A name with several addresses fails once for each of them. */
function inWords(error: Error): string {
  if (!(error instanceof AggregateError) || error.message !== "") return error.message;
  return error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join(", ");
}
