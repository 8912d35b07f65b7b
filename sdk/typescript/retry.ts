import { Code } from "@connectrpc/connect";
import { Failure } from "./failure.ts";

/**
 * What may be repeated, and when: for calls and for plain HTTP, in Node and in a browser. A caller that repeats
 * something only sets for how long. It must know itself whether its request may be repeated safely.
 */

/** What another attempt at the same request would bring. */
type Prospect =
  /** It may work by itself, soon. */
  | "transient"
  /** A person has to do something first. */
  | "blocked"
  /** It will never work as it is. */
  | "final";

const PROSPECTS: Readonly<Record<Code, Prospect>> = {
  // The server starts, stops, is overloaded or waits for its disk; or no answer of it came (see Failure.from).
  [Code.Unavailable]: "transient",
  // No answer in time. A search that is too slow is the exception.
  [Code.DeadlineExceeded]: "transient",
  // The server says to begin again: rights have changed, or a newer request took over an upload.
  [Code.Aborted]: "transient",
  // Over a limit that is the same tomorrow. One that passes comes with the time to wait.
  [Code.ResourceExhausted]: "final",
  [Code.InvalidArgument]: "final",
  [Code.OutOfRange]: "final",
  // A person has to log in, give a role, create what is missing or remove what is in the way.
  [Code.Unauthenticated]: "blocked",
  [Code.PermissionDenied]: "blocked",
  [Code.NotFound]: "blocked",
  [Code.AlreadyExists]: "blocked",
  [Code.FailedPrecondition]: "blocked",
  // An older server, or something that is not one.
  [Code.Unimplemented]: "blocked",
  // A fault of the server, or damaged data: the same request meets it again, and the log of the server explains it.
  [Code.Internal]: "blocked",
  [Code.DataLoss]: "blocked",
  // A fault of this program.
  [Code.Unknown]: "blocked",
  // The caller has ended it.
  [Code.Canceled]: "blocked",
};

function prospectOf({ code, reason, facts }: Failure): Prospect {
  if (facts["retry_after_ms"] !== undefined) return "transient";
  // It would take as long again.
  if (reason === "SEARCH_SLOW") return "blocked";
  return PROSPECTS[code];
}

/** Whether the same request may work soon by itself. */
export function isTransient(failure: Failure): boolean {
  return prospectOf(failure) === "transient";
}

/** Whether a Cairn server will always answer the same request with this. */
export function isFinal(failure: Failure): boolean {
  return prospectOf(failure) === "final";
}

export interface BackoffOptions {
  firstMs?: number;
  /** The longest pause. */
  mostMs?: number;
  /** After an answer that only a person can change. */
  refusedMs?: number;
  random?: () => number;
}

/** Asked for by a server, as a multiple of the longest pause: a proxy may ask for a year. */
const ASKED_MULTIPLE_MAX = 10;

/** How long to wait between attempts: longer each time, never the same for two clients. */
export class Backoff {
  readonly #firstMs: number;
  readonly #mostMs: number;
  readonly #refusedMs: number;
  readonly #random: () => number;
  #attempts = 0;

  constructor({
    firstMs = 200,
    mostMs = 5_000,
    refusedMs = 15_000,
    random = Math.random,
  }: BackoffOptions = {}) {
    this.#firstMs = firstMs;
    this.#mostMs = mostMs;
    this.#refusedMs = refusedMs;
    this.#random = random;
  }

  next(failure: Failure): number {
    return this.after(this.#attempts++, failure);
  }

  /** After so many attempts before the one that failed. */
  after(attempts: number, failure: Failure): number {
    const grown = Math.min(this.#mostMs, this.#firstMs * 2 ** Math.min(attempts, 20));
    const wanted = isTransient(failure) ? grown : this.#refusedMs;
    const asked = Number(failure.facts["retry_after_ms"] ?? 0);
    const least = Math.min(asked >= 0 ? asked : 0, ASKED_MULTIPLE_MAX * this.#mostMs);
    const share = this.#random();
    // Clients that were refused together must not retry together.
    return Math.max(least * (1 + share / 4), wanted * (0.5 + share / 2));
  }

  reset(): void {
    this.#attempts = 0;
  }
}

export interface RetryOptions {
  /** How long to retry without success, pauses included; without it, forever. */
  patienceMs?: number | undefined;
  /** Ends the attempts, and a pause: its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** The address of the server, for the messages of failures. */
  url?: string | undefined;
  /** Called for each failure that another attempt follows. */
  onFailure?: ((failure: Failure) => void) | undefined;
  backoff?: BackoffOptions | undefined;
}

/** Attempts at one thing, one after the other. */
export class Attempts {
  readonly #options: RetryOptions;
  readonly #backoff: Backoff;
  #failingSinceMs: number | undefined;

  constructor(options: RetryOptions = {}) {
    this.#options = options;
    this.#backoff = new Backoff(options.backoff);
  }

  /** Some of it worked: time and pauses begin again. */
  progressed(): void {
    this.#failingSinceMs = undefined;
    this.#backoff.reset();
  }

  /**
   * Waits until it is worth another attempt. Throws a Failure where none would help, or not within the time, which
   * is counted from `sinceMs`, by performance.now(), when this is the first failure in a row.
   */
  async wait(thrown: unknown, sinceMs: number = performance.now()): Promise<void> {
    const { patienceMs = Infinity, signal, url, onFailure } = this.#options;
    signal?.throwIfAborted();
    const failure = Failure.from(thrown, url);
    this.#failingSinceMs ??= sinceMs;
    const waitMs = this.#backoff.next(failure);
    const endMs = this.#failingSinceMs + patienceMs;
    if (!isTransient(failure) || performance.now() + waitMs > endMs) throw failure;
    onFailure?.(failure);
    await pause(waitMs, signal);
  }
}

/** Makes a call that may be repeated, and repeats it while that may help. Throws a Failure, or the reason of the signal. */
export async function retry<T>(call: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const attempts = new Attempts(options);
  const startedMs = performance.now();
  for (;;) {
    try {
      return await call();
    } catch (thrown) {
      await attempts.wait(thrown, startedMs);
    }
  }
}

/** Throws the reason of the signal once it is aborted. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const end = () => resolve();
  signal?.addEventListener("abort", end);
  await promise;
  signal?.removeEventListener("abort", end);
  clearTimeout(timer);
  signal?.throwIfAborted();
}
