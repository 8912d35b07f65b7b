import { PREPARE_MS_MAX, START_MS_MAX } from "./limits.ts";
import type { Outcome, Preparations } from "./prepared.ts";

export interface ToWorker {
  kind: keyof Preparations;
  text: string;
}
export type FromWorker = "ready" | Outcome<Preparations[keyof Preparations]>;

/** The part of Worker that is used here. */
export interface Thread {
  postMessage(message: ToWorker): void;
  addEventListener(type: "message" | "error", listener: (event: { data?: unknown }) => void): void;
  removeEventListener(type: "message" | "error", listener: (event: { data?: unknown }) => void): void;
  terminate(): void;
}

/**
 * Prepares texts in a worker thread, one after the other. A text that takes too long is refused and its thread ended;
 * the next text gets a new one. Never rejects.
 */
export class Preparer {
  readonly #start: () => Thread;
  readonly #limitMs: number;
  #thread: Promise<Thread | undefined> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(start: () => Thread, limitMs = PREPARE_MS_MAX) {
    this.#start = start;
    this.#limitMs = limitMs;
  }

  /** With an aborted signal a text that waits for its turn is not begun. */
  prepare<K extends keyof Preparations>(
    kind: K,
    text: string,
    signal?: AbortSignal,
  ): Promise<Outcome<Preparations[K]>> {
    const turn = this.#last.then(() =>
      signal?.aborted === true ? { refused: "slow" as const } : this.#prepare(kind, text),
    );
    this.#last = turn;
    return turn;
  }

  async #prepare<K extends keyof Preparations>(kind: K, text: string): Promise<Outcome<Preparations[K]>> {
    const thread = await (this.#thread ??= this.#open());
    if (thread === undefined) {
      this.#thread = undefined;
      return { refused: "broken" };
    }
    const answer = nextMessage(thread, this.#limitMs);
    thread.postMessage({ kind, text });
    const outcome = await answer;
    if (outcome !== undefined) return outcome as Outcome<Preparations[K]>;
    thread.terminate();
    this.#thread = undefined;
    return { refused: "slow" };
  }

  /** undefined when no thread can be started. */
  async #open(): Promise<Thread | undefined> {
    let thread: Thread | undefined;
    try {
      thread = this.#start();
      if ((await nextMessage(thread, START_MS_MAX)) === "ready") return thread;
    } catch {
      // A browser without workers, or a policy of a proxy against them.
    }
    thread?.terminate();
    return undefined;
  }
}

/** undefined when the thread fails or times out. */
function nextMessage(thread: Thread, limitMs: number): Promise<unknown> {
  return new Promise((resolve) => {
    const end = (data?: unknown) => {
      clearTimeout(timer);
      thread.removeEventListener("message", onMessage);
      thread.removeEventListener("error", onError);
      resolve(data);
    };
    const onMessage = ({ data }: { data?: unknown }) => end(data);
    const onError = () => end();
    // If the page itself was busy, both the timeout and the answer are due: the answer counts.
    let timer = setTimeout(() => (timer = setTimeout(end, 20)), limitMs);
    thread.addEventListener("message", onMessage);
    thread.addEventListener("error", onError);
  });
}
