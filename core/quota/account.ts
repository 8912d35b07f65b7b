import { withoutStack } from "#base/without-stack.ts";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { TokenBucket } from "./token-bucket.ts";

/** The limits of one principal; 0 means no limit. */
export interface QuotaLimits {
  requestsPerSecond: number;
  bytesPerSecond: number;
  streamsMax: number;
}

const STREAM_RETRY_MS = 1_000;

/**
 * The usage of one principal. All calls of the principal share it, over any connection, so it must only be used on
 * one thread.
 */
export class Account {
  /** Of the principal, unique among all. */
  readonly owner: string;
  readonly #limits: QuotaLimits;
  readonly #nowMs: () => number;
  readonly #requests: TokenBucket | undefined;
  readonly #bytes: TokenBucket | undefined;
  #streams = 0;

  constructor(owner: string, quota: QuotaLimits, nowMs: () => number) {
    this.owner = owner;
    this.#limits = quota;
    this.#nowMs = nowMs;
    const { requestsPerSecond, bytesPerSecond } = quota;
    this.#requests = requestsPerSecond === 0 ? undefined : new TokenBucket(requestsPerSecond, nowMs());
    this.#bytes = bytesPerSecond === 0 ? undefined : new TokenBucket(bytesPerSecond, nowMs());
  }

  /**
   * One request more. Throws `exhausted` (QUOTA) when the requests or the bytes of this second are used up;
   * a request that is refused counts for nothing.
   */
  request(): void {
    const nowMs = this.#nowMs();
    const requestsMs = this.#requests?.waitMs(nowMs) ?? 0;
    if (requestsMs > 0) throw this.#refusal("requests", this.#limits.requestsPerSecond, requestsMs);
    const bytesMs = this.#bytes?.waitMs(nowMs) ?? 0;
    if (bytesMs > 0) throw this.#refusal("bytes", this.#limits.bytesPerSecond, bytesMs);
    this.#requests?.spend(1, nowMs);
  }

  /**
   * Bytes of an admitted body. A body may overdraw the account by as much as one message may
   * have; above that it is refused like a new request, or a thousand bodies begun at once would all pass.
   */
  receive(bytes: number): void {
    if (this.#bytes === undefined) return;
    const nowMs = this.#nowMs();
    this.#bytes.spend(bytes, nowMs);
    if (this.#bytes.debt(nowMs) <= limits.messageBytesMax) return;
    throw this.#refusal("bytes", this.#limits.bytesPerSecond, this.#bytes.waitMs(nowMs));
  }

  /**
   * A part of a stream, which is slowed down instead of refused: counts it and returns how long to wait
   * before the next part is read, 0 for no wait.
   */
  paceMs(requests: number, bytes: number): number {
    const nowMs = this.#nowMs();
    this.#requests?.spend(requests, nowMs);
    this.#bytes?.spend(bytes, nowMs);
    return Math.max(this.#requests?.waitMs(nowMs) ?? 0, this.#bytes?.waitMs(nowMs) ?? 0);
  }

  /** Throws `exhausted` (QUOTA) when as many are open. The function it returns closes it, once. */
  openStream(): () => void {
    const { streamsMax } = this.#limits;
    if (streamsMax > 0 && this.#streams >= streamsMax) {
      throw this.#refusal("streams", streamsMax, STREAM_RETRY_MS);
    }
    this.#streams++;
    let open = true;
    return () => {
      if (open) this.#streams--;
      open = false;
    };
  }

  get openStreams(): number {
    return this.#streams;
  }

  /** Whether nothing would change if it were forgotten. */
  get isUnused(): boolean {
    const nowMs = this.#nowMs();
    return (
      this.#streams === 0 && this.#requests?.isFull(nowMs) !== false && this.#bytes?.isFull(nowMs) !== false
    );
  }

  #refusal(what: "requests" | "bytes" | "streams", limit: number, waitMs: number): CairnError {
    const { said, hint } = WORDS[what];
    const options = {
      reason: "QUOTA",
      facts: { quota: what, limit: String(limit) },
      hint,
      retryAfterMs: Math.max(1, Math.ceil(waitMs)),
    };
    return withoutStack(
      () => new CairnError("exhausted", `cannot accept the request: ${said(limit)}`, options),
    );
  }
}

const WORDS = {
  requests: {
    said: (limit: number) => `its caller may make ${limit} requests in a second`,
    hint: "wait for the given time, and send more with each request",
  },
  bytes: {
    said: (limit: number) => `its caller may send ${limit} bytes in a second`,
    hint: "wait for the given time",
  },
  streams: {
    said: (limit: number) => `its caller may have ${limit} streams and uploads open at once`,
    hint: "close one",
  },
};
