import { MessageChannel, type Worker } from "node:worker_threads";
import { Caller } from "#base/threads/worker-call.ts";
import { startWorker } from "#base/threads/worker-thread.ts";
import type { ReadMask } from "#core/types/scope.ts";
import type {
  FoundFrontier,
  FrontierRequest,
  Importance,
  ImportanceRequest,
  RunSelection,
} from "#core/ports/run-search.ts";
import { CairnError, fromPlainError } from "#lang/errors.ts";
import { toPlainRequest } from "../masks/plain-query.ts";
import type { SentMasks } from "../masks/sent-masks.ts";
import type { AnalysisApi, ColumnsApi, OpenedTable } from "../worker-api.ts";

/** Computations over many runs, in a thread that is started when first needed. */
export class Analysis {
  readonly #index: Caller<ColumnsApi>;
  readonly #masks: SentMasks;
  #worker: Worker | undefined;
  #caller: Caller<AnalysisApi> | undefined;

  constructor(index: Caller<ColumnsApi>, masks: SentMasks) {
    this.#index = index;
    this.#masks = masks;
  }

  importance(request: ImportanceRequest, signal?: AbortSignal): Promise<Importance> {
    const { objective, bounds } = request;
    return this.#withTable(request, true, signal, (table) =>
      this.#thread().call("importance", [table, objective, bounds], { signal }),
    );
  }

  frontier(request: FrontierRequest, signal?: AbortSignal): Promise<FoundFrontier> {
    const { goals, limit } = request;
    return this.#withTable(request, false, signal, (table) =>
      this.#thread().call("frontier", [table, goals, limit], { signal }),
    );
  }

  async close(): Promise<void> {
    this.#caller?.fail(new CairnError("unavailable", "cannot compute over runs: the run index is closed"));
    await this.#worker?.terminate();
  }

  async #withTable<T>(
    { query, readable, under, nowUs }: RunSelection,
    withParams: boolean,
    signal: AbortSignal | undefined,
    work: (table: OpenedTable) => Promise<T>,
  ): Promise<T> {
    const selection: RunSelection = { query, readable, under, ...(nowUs !== undefined && { nowUs }) };
    const table = await this.#open(selection, readable, withParams, signal);
    try {
      return await work(table);
    } finally {
      void this.#index.call("closeTable", [table.id]).catch(() => undefined);
    }
  }

  #open(
    selection: RunSelection,
    readable: ReadMask | undefined,
    withParams: boolean,
    signal: AbortSignal | undefined,
  ): Promise<OpenedTable> {
    return this.#masks.call(readable, (mask) =>
      this.#index.call("openTable", [toPlainRequest(selection, mask), withParams], { signal }),
    );
  }

  #thread(): Caller<AnalysisApi> {
    if (this.#caller !== undefined) return this.#caller;
    const { port1, port2 } = new MessageChannel();
    void this.#index.call("serveTables", [port1], { transfer: [port1] });
    this.#worker = startWorker(new URL("./worker.ts", import.meta.url), {
      name: "analysis",
      workerData: { tables: port2 },
      transferList: [port2],
    });
    this.#caller = new Caller<AnalysisApi>(this.#worker, fromPlainError, (cause) => {
      this.#caller = undefined;
      return new CairnError("unavailable", "cannot compute over runs: its thread has ended", {
        cause,
        reason: "SEARCH_ENDED",
        hint: "try again",
      });
    });
    return this.#caller;
  }
}
