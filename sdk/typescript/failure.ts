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
      return new Failure(error.code, error.rawMessage, { reason, hint, facts, cause: thrown });
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

/** What the network said, when no answer came at all. */
function networkCause(error: ConnectError): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === "string" && /^E[A-Z]+|^UND_ERR/.test(code)) return at.message || code;
  }
  return undefined;
}
