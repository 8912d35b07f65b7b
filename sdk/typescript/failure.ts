import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "#proto/cairn/v1/error_pb.ts";

/** What went wrong with a call, in words for a person and in a word for a program. */
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

  /** Whatever a call threw. */
  static from(thrown: unknown, url = ""): Failure {
    if (thrown instanceof Failure) return thrown;
    const error = ConnectError.from(thrown);
    const detail = error.findDetails(ErrorDetailSchema)[0];
    if (detail !== undefined) {
      const { reason, hint, facts } = detail;
      // For those who see nothing but the message the server puts the hint there as well.
      const told = ` (${hint})`;
      const message = error.rawMessage.endsWith(told)
        ? error.rawMessage.slice(0, -told.length)
        : error.rawMessage;
      return new Failure(error.code, message, { reason, hint, facts, cause: thrown });
    }
    const cause = networkCause(error);
    if (cause !== undefined) {
      return new Failure(Code.Unavailable, `cannot reach ${url === "" ? "the server" : url}: ${cause}`, {
        reason: "UNREACHABLE",
        hint: "start one with `cairn serve`, or name another with --server or CAIRN_SERVER",
        cause: thrown,
      });
    }
    return new Failure(error.code, error.rawMessage, { cause: thrown });
  }
}

/** How the engines say that a request never got an answer; what lies behind it is in the cause, if anywhere. */
const NO_ANSWER = /^(?:fetch failed|Failed to fetch|Load failed|NetworkError\b)/;

/** What the network said, when no answer came at all. */
function networkCause(error: ConnectError): string | undefined {
  let said: string | undefined;
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === "string" && /^E[A-Z]+|^UND_ERR/.test(code)) return inWords(at) || code;
    // The innermost says most: `fetch failed` alone helps nobody.
    if (said !== undefined || (at instanceof TypeError && NO_ANSWER.test(at.message))) said = at.message;
  }
  return said;
}

/** A name with several addresses fails once for each of them. */
function inWords(error: Error): string {
  if (!(error instanceof AggregateError) || error.message !== "") return error.message;
  return error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join(", ");
}
