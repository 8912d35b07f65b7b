import { Failure } from "../failure.ts";
import { Backoff, type BackoffOptions } from "../retry.ts";
import type { Delivery } from "./delivery.ts";

export interface TransmitterOptions {
  delivery: Delivery;
  /** Whether everything that was spooled has been delivered. */
  isEmpty(): boolean;
  /** The server refuses everything, or only files; called for each attempt. */
  onFailure(failure: Failure, what: "frames" | "files"): void;
  /** It accepts frames again, after an outage of so many milliseconds. */
  onRecovered(awayMs: number): void;
  backoff?: BackoffOptions | undefined;
}

/**
 * Delivers as long as the process lives. Nothing here keeps it alive, also no pause: the end of a process
 * waits for `delivered`.
 */
export class Transmitter {
  readonly #options: TransmitterOptions;
  readonly #stopped = new AbortController();
  readonly #lanes: Lane[];
  #waiting: (() => void)[] = [];
  /** When the server stopped taking anything; undefined while it does. */
  #awaySince: number | undefined;
  #lastFailure: Failure | undefined;

  constructor(options: TransmitterOptions) {
    this.#options = options;
    const { delivery, backoff } = options;
    this.#lanes = [
      new Lane((signal) => delivery.drain(signal), new Backoff(backoff)),
      // A large file does not hold up points, and a file that cannot be sent does not either.
      new Lane((signal) => delivery.drainUploads(signal), new Backoff(backoff)),
    ];
  }

  /** Why nothing arrives; undefined while everything does. */
  get failure(): Failure | undefined {
    return this.#lastFailure;
  }

  start(): void {
    for (const lane of this.#lanes) void this.#run(lane);
  }

  /** There is something to deliver. */
  wake(): void {
    this.#lanes[0]!.wake();
  }

  async #run(lane: Lane): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        await lane.work(signal);
        this.#succeeded(lane);
        // Uploads are found by the first lane.
        if (lane === this.#lanes[0] && this.#options.delivery.uploadsLeft > 0) this.#lanes[1]!.wake();
        this.#tellWaiting();
        await lane.nextWake(signal);
      } catch (thrown) {
        if (signal.aborted) return;
        const failure = Failure.from(thrown);
        this.#failed(lane, failure);
        await lane.pause(failure, signal);
      }
    }
  }

  #failed(lane: Lane, failure: Failure): void {
    const isFrames = lane === this.#lanes[0];
    if (isFrames) {
      this.#lastFailure = failure;
      this.#awaySince ??= performance.now();
    }
    this.#options.onFailure(failure, isFrames ? "frames" : "files");
  }

  #succeeded(lane: Lane): void {
    lane.reset();
    if (lane !== this.#lanes[0] || this.#awaySince === undefined) return;
    const awayMs = performance.now() - this.#awaySince;
    this.#awaySince = undefined;
    this.#lastFailure = undefined;
    this.#options.onRecovered(awayMs);
  }

  #tellWaiting(): void {
    if (!this.#options.isEmpty()) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** True when everything was delivered within the time. Keeps the process alive meanwhile. */
  async delivered(deadlineMs: number): Promise<boolean> {
    for (const lane of this.#lanes) lane.hurry();
    if (this.#options.isEmpty()) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const timer = setTimeout(resolve, deadlineMs);
    await promise;
    clearTimeout(timer);
    return this.#options.isEmpty();
  }

  /** Requests in flight may still arrive; their answers are not awaited. */
  stop(): void {
    this.#stopped.abort();
    for (const lane of this.#lanes) lane.hurry();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** One kind of work that is repeated, with pauses. */
class Lane {
  readonly work: (signal: AbortSignal) => Promise<void>;
  readonly #backoff: Backoff;
  #isWoken = false;
  #isPausing = false;
  #resume: (() => void) | undefined;

  constructor(work: (signal: AbortSignal) => Promise<void>, backoff: Backoff) {
    this.work = work;
    this.#backoff = backoff;
  }

  reset(): void {
    this.#backoff.reset();
  }

  wake(): void {
    this.#isWoken = true;
    if (!this.#isPausing) this.#resume?.();
  }

  /** Ends also a pause. */
  hurry(): void {
    this.#isWoken = true;
    this.#resume?.();
  }

  async nextWake(signal: AbortSignal): Promise<void> {
    while (!this.#isWoken && !signal.aborted) await this.#sleep();
    this.#isWoken = false;
  }

  async pause(failure: Failure, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#isPausing = true;
    const timer = setTimeout(() => this.#resume?.(), this.#backoff.next(failure));
    timer.unref();
    await this.#sleep();
    clearTimeout(timer);
    this.#isPausing = false;
  }

  #sleep(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resume = resolve;
    return promise;
  }
}
