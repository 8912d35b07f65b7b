import type { Thread } from "./thread.ts";
import type { ReaderApi } from "./worker-api.ts";

type ReaderThread = Thread<ReaderApi>;

/** Calls that take milliseconds. Watchers, and everyone whose rights are checked, wait for them. */
const SHORT: ReadonlySet<keyof ReaderApi> = new Set([
  "changesSince",
  "readPoints",
  "loadAccess",
  "findRuns",
  "getRuns",
  "findNamespace",
  "listCapturePolicies",
  "getSetting",
  "lineCount",
]);

/** A thread that reads, with how many calls it has not answered yet. */
interface Reader {
  thread: ReaderThread;
  pending: number;
  /** Those of them that may take long. */
  long: number;
}

interface ReadersOptions {
  /** Starts one more. */
  start(): Promise<ReaderThread>;
  /** With more than one, one of them is kept free of long calls. */
  max: number;
}

/**
 * The threads that read, one connection each: the first from the beginning, others when they are needed. Short calls never
 * wait for long ones: where every thread works on a long one, one more is started.
 */
export class Readers {
  readonly #options: ReadersOptions;
  #readers: Reader[] = [];
  #starting: Promise<void> | undefined;
  /** Calls that wait for a reader, while one is being started. */
  #waiting: PromiseWithResolvers<Reader>[] = [];

  /** Calls wait until the first is open. */
  constructor(first: Promise<ReaderThread>, options: ReadersOptions) {
    this.#options = options;
    this.#add(first);
  }

  /** Resolves when the thread that is being started can be used, or cannot. */
  get starting(): Promise<void> | undefined {
    return this.#starting;
  }

  /** Where no thread can be started this throws why, and the next call tries again. */
  async call<M extends keyof ReaderApi>(
    method: M,
    args: Parameters<ReaderApi[M]>,
    signal?: AbortSignal,
  ): Promise<Awaited<ReturnType<ReaderApi[M]>>> {
    const long = SHORT.has(method) ? 0 : 1;
    const reader = this.#find(long === 1) ?? (await this.#wait());
    reader.pending++;
    reader.long += long;
    try {
      // In the order of the calls, which a stop relies on: nothing may come in between.
      return (await reader.thread.caller.call(method, args as never, { signal })) as never;
    } finally {
      const end = () => this.#end(reader, long);
      // The thread may not have noticed yet that it was cancelled.
      if (signal?.aborted === true) reader.thread.caller.call("finish", []).then(end, end);
      else end();
    }
  }

  #end(reader: Reader, long: number): void {
    reader.pending--;
    reader.long -= long;
    if (reader.long === 0 && !reader.thread.caller.hasFailed) this.#serve(() => reader);
  }

  /** Once they have answered what they were asked. */
  async stop(): Promise<void> {
    await this.#starting;
    const stop = async ({ thread }: Reader) => {
      await thread.caller.call("finish", []).catch(() => undefined);
      await thread.stop();
    };
    await Promise.all(this.#readers.map(stop));
  }

  /** undefined where the call must wait for one. */
  #find(isLong: boolean): Reader | undefined {
    this.#readers = this.#readers.filter(({ thread }) => !thread.caller.hasFailed);
    const { max } = this.#options;
    const free = this.#readers.filter(({ long }) => long === 0);
    const isFull = this.#readers.length === max;
    let usable = this.#readers;
    if (max > 1 && !isLong) usable = free;
    // The last free one is for short calls.
    else if (max > 1 && isFull && free.length === 1) usable = usable.filter((one) => one !== free[0]);
    const reader = leastBusy(usable);
    // Another, so that a call is not delayed by those before it. The last one is started for short calls only.
    if (reader === undefined || (reader.pending > 0 && this.#readers.length < max - 1)) {
      if (this.#starting === undefined) this.#add(this.#options.start());
    }
    return reader;
  }

  #wait(): Promise<Reader> {
    const waiting = Promise.withResolvers<Reader>();
    this.#waiting.push(waiting);
    return waiting.promise;
  }

  #serve(find: () => Reader): void {
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      try {
        resolve(find());
      } catch (thrown) {
        reject(thrown);
      }
    }
  }

  #add(started: Promise<ReaderThread>): void {
    const use = (thread: ReaderThread): void => {
      this.#starting = undefined;
      const reader = { thread, pending: 0, long: 0 };
      this.#readers.push(reader);
      this.#serve(() => reader);
    };
    // The others continue, and the next call that needs another tries again.
    const doWithout = (thrown: unknown): void => {
      this.#starting = undefined;
      this.#serve(() => {
        const reader = leastBusy(this.#readers);
        if (reader === undefined) throw thrown;
        return reader;
      });
    };
    this.#starting = started.then(use, doWithout);
  }
}

function leastBusy(readers: readonly Reader[]): Reader | undefined {
  return readers.toSorted((a, b) => a.long - b.long || a.pending - b.pending)[0];
}
