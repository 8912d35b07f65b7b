import { byteLength } from "#base/byte-length.ts";

/** The closed set of things that can go wrong. Each wire has its own spelling for them. */
export type ErrorCode =
  | "invalid" // the request is not valid in any state
  | "not-found"
  | "exists" // something with that name or number exists already
  | "precondition" // right request, wrong moment; see `reason`
  | "unauthenticated"
  | "forbidden"
  | "exhausted" // a limit or quota; `retryAfterMs` when waiting helps
  | "unavailable" // try again later
  | "deadline"
  | "aborted" // the caller disconnected, or must begin again when there is a `reason`
  | "corrupt" // stored data failed its checksum
  | "internal";

export interface ErrorOptions {
  cause?: unknown;
  /** A stable word in capitals for programs, such as SEQ_GAP. */
  reason?: string;
  /** What a person can do about it. */
  hint?: string;
  /** Named values for programs, such as `expected`. */
  facts?: Readonly<Record<string, string>>;
  retryAfterMs?: number;
}

/**
 * The only error core throws. Stores translate what their drivers throw into it, wires translate
 * it into their protocol. Messages read: cannot <verb> <noun> "<value>": <cause>.
 */
export class CairnError extends Error {
  override readonly name = "CairnError";
  readonly code: ErrorCode;
  readonly reason: string | undefined;
  readonly hint: string | undefined;
  readonly facts: Readonly<Record<string, string>>;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.reason = options.reason;
    this.hint = options.hint;
    this.facts = options.facts ?? {};
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Anything that was thrown, as a CairnError. Unknown things become `internal` and keep their cause. */
  static from(thrown: unknown): CairnError {
    if (thrown instanceof CairnError) return thrown;
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return new CairnError("internal", `unexpected failure: ${text}`, { cause: thrown });
  }
}

const QUOTE_BYTES_MAX = 200;

/** The value in quotes, made printable and cut, for use in a message. */
export function quote(value: string): string {
  const text = JSON.stringify(value);
  if (byteLength(text) <= QUOTE_BYTES_MAX) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(QUOTE_BYTES_MAX));
  return `${text.slice(0, read)}…"`;
}

const encoder = new TextEncoder();

/** An error as data, to pass between threads: structured clone would strip it of its class. */
export interface PlainError extends Omit<ErrorOptions, "cause"> {
  code: ErrorCode;
  message: string;
  stack: string | undefined;
}

export function toPlainError(thrown: unknown): PlainError {
  const { code, message, reason, hint, facts, retryAfterMs, stack } = CairnError.from(thrown);
  return {
    code,
    message,
    facts,
    stack,
    ...(reason !== undefined && { reason }),
    ...(hint !== undefined && { hint }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** The stack is the one of the thread where it happened. */
export function fromPlainError({ code, message, stack, ...options }: PlainError): CairnError {
  const error = new CairnError(code, message, options);
  if (stack !== undefined) error.stack = stack;
  return error;
}
