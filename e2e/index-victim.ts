/** The thread of a run index, on a real store, that can be killed at a chosen moment. */
import { existsSync, rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { MessageChannel, type Worker } from "node:worker_threads";
import { Caller } from "#base/threads/worker-call.ts";
import { startWorker } from "#base/threads/worker-thread.ts";
import type { RunChangesLink, RunFeedBatch, RunMark } from "#core/ports/run-changes.ts";
import type { SearchRequest, SearchResult } from "#core/ports/run-search.ts";
import { linkRunChanges, serveRunChanges } from "#core/runs/run-changes-link.ts";
import { fromPlainError } from "#lang/errors.ts";
import { MASKS_MAX } from "#store/columns/masks/mask-table.ts";
import { toPlainRequest } from "#store/columns/masks/plain-query.ts";
import type { ColumnsApi, WorkerStart } from "#store/columns/worker-api.ts";

const DEADLINE_MS = 30_000;

/** What became of a question for a part: it was answered, or the thread was killed before or after it got the answer. */
export type OnPart = (asked: RunMark | undefined, answer: RunFeedBatch | undefined) => void;

export class IndexVictim {
  readonly #worker: Worker;
  readonly #caller: Caller<ColumnsApi>;
  readonly #snapshot: string;
  readonly #closeLink: () => void;
  #isKilled = false;

  private constructor(worker: Worker, snapshot: string, closeLink: () => void) {
    this.#worker = worker;
    this.#snapshot = snapshot;
    this.#closeLink = closeLink;
    this.#caller = new Caller<ColumnsApi>(
      worker,
      fromPlainError,
      (cause) => new Error("it was killed", { cause }),
    );
  }

  /** `onPart` is called when a part is requested, and again with the answer before it is sent. */
  static async start(
    followRuns: () => Promise<RunChangesLink>,
    snapshot: string,
    onPart: OnPart = () => {},
  ): Promise<IndexVictim> {
    const link = await followRuns();
    link.port.unref();
    const changes = linkRunChanges(link);
    const { port1, port2 } = new MessageChannel();
    port2.unref();
    const start: WorkerStart = {
      deadlineMs: DEADLINE_MS,
      masksMax: MASKS_MAX,
      snapshot: { file: snapshot, runsMin: 1 },
    };
    const worker = startWorker(new URL("../store/columns/worker.ts", import.meta.url), { workerData: start });
    const victim = new IndexVictim(worker, snapshot, () => {
      port2.close();
      link.port.close();
    });
    serveRunChanges(port2, async (mark) => {
      onPart(mark, undefined);
      const batch = await changes.runsSince(mark);
      onPart(mark, batch);
      return batch;
    });
    await victim.#caller.call("follow", [{ port: port1, position: link.position }], { transfer: [port1] });
    return victim;
  }

  search(request: SearchRequest): Promise<SearchResult> {
    return this.#caller.call("search", [toPlainRequest(request, undefined)]);
  }

  /** Writes a snapshot, where enough has changed. */
  async finish(): Promise<void> {
    await this.#caller.call("finish", []);
  }

  /** Kills it while it writes a snapshot, after so many turns. False when it was done by then. */
  async killWhileWriting(turns: number): Promise<boolean> {
    const writing = `${this.#snapshot}.new`;
    // Of one that was killed before.
    rmSync(writing, { force: true });
    const state = { isDone: false };
    const finishing = this.finish().then(
      () => (state.isDone = true),
      () => undefined,
    );
    while (!existsSync(writing) && !state.isDone) await setImmediate();
    for (let i = 0; i < turns && !state.isDone; i++) await setImmediate();
    await this.kill();
    await finishing;
    return existsSync(writing);
  }

  /** At once: its current work stays half done. */
  async kill(): Promise<void> {
    if (this.#isKilled) return;
    this.#isKilled = true;
    await this.#worker.terminate();
    this.#caller.fail(new Error("it was killed"));
    this.#closeLink();
  }
}
