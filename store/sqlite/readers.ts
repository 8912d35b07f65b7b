import type { Thread } from "./thread.ts";
import type { ReaderApi } from "./worker-api.ts";

type ReaderThread = Thread<ReaderApi>;

/** A thread that reads, with the calls it has not answered yet. */
interface Reader {
  thread: ReaderThread | Promise<ReaderThread>;
  pending: number;
}

interface ReadersOptions {
  /** Starts one more. */
  start(): Promise<ReaderThread>;
  max: number;
}

/** The threads that read, one connection each: the first from the beginning, others when they are needed. */
export class Readers {
  readonly #readers: Reader[];
  readonly #options: ReadersOptions;
  #starting: Promise<void> | undefined;
  #stopped = false;

  /** Calls wait until the first is open. Where it cannot be, each of them throws why. */
  constructor(thread: ReaderThread | Promise<ReaderThread>, options: ReadersOptions) {
    const first: Reader = { thread, pending: 0 };
    this.#readers = [first];
    this.#options = options;
    // Calls that wait for it are no reason to start another.
    if (thread instanceof Promise) this.#whileStarting(thread.then((opened) => void (first.thread = opened)));
  }

  async call<M extends keyof ReaderApi>(
    method: M,
    args: Parameters<ReaderApi[M]>,
    signal?: AbortSignal,
  ): Promise<Awaited<ReturnType<ReaderApi[M]>>> {
    const reader = this.#readers.reduce((best, one) => (one.pending < best.pending ? one : best));
    // Another thread, so that a long read does not delay a short one.
    if (reader.pending > 0) this.#grow();
    reader.pending++;
    try {
      const { thread } = reader;
      // In the order of the calls, which a stop relies on: nothing may come in between.
      const { caller } = thread instanceof Promise ? await thread : thread;
      return (await caller.call(method, args as never, { signal })) as never;
    } finally {
      reader.pending--;
    }
  }

  /** Once they have answered what they were asked. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#starting;
    const stop = async ({ thread }: Reader) => {
      // One that could not be opened has ended.
      if (thread instanceof Promise) return;
      await thread.caller.call("finish", []).catch(() => undefined);
      await thread.stop();
    };
    await Promise.all(this.#readers.map(stop));
  }

  #grow(): void {
    if (this.#starting !== undefined || this.#readers.length >= this.#options.max) return;
    const use = async (thread: ReaderThread): Promise<void> => {
      if (this.#stopped) await thread.stop();
      else this.#readers.push({ thread, pending: 0 });
    };
    this.#whileStarting(this.#options.start().then(use));
  }

  #whileStarting(started: Promise<void>): void {
    const end = () => (this.#starting = undefined);
    // Where one cannot be opened, the others continue, and the next busy moment tries again.
    this.#starting = started.then(end, end);
  }
}
