/** The thread that computes over many runs at once. It reads columns of the index, which goes on searching. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { keepCancelFlag, throwIfCancelled } from "#base/threads/cancellation.ts";
import { Caller, serveCalls } from "#base/threads/worker-call.ts";
import { frontierOf } from "#core/explore/frontier.ts";
import { importanceOf } from "#core/explore/importance.ts";
import type { RunColumn } from "#core/explore/run-table.ts";
import { CairnError, fromPlainError, toPlainError } from "#lang/errors.ts";
import { SearchDeadline } from "../search/search-deadline.ts";
import type { AnalysisApi, TableApi } from "../worker-api.ts";

const FRONTIER_MS_MAX = 10_000;

const { tables } = workerData as { tables: MessagePort };
const index = new Caller<TableApi>(tables, fromPlainError, (cause) => {
  return new CairnError("unavailable", "cannot read runs: the thread of the run index has ended", { cause });
});

serveCalls<AnalysisApi>(
  parentPort!,
  {
    importance: (table, objective, bounds) => {
      const check = keepCancelFlag(throwIfCancelled);
      const column = async (field: Parameters<TableApi["column"]>[1]): Promise<RunColumn | undefined> => {
        check();
        return index.call("column", [table.id, field]);
      };
      return importanceOf({ count: table.count, params: table.params, column }, objective, bounds);
    },
    frontier: async (table, goals, limit) => {
      const check = keepCancelFlag(throwIfCancelled);
      const columns = await Promise.all(goals.map(({ field }) => index.call("column", [table.id, field])));
      const found = columns.map((column, i) => ({
        values: column?.kind === "number" ? column.values : new Float64Array(table.count).fill(Number.NaN),
        maximize: goals[i]!.maximize,
      }));
      const deadline = new SearchDeadline(FRONTIER_MS_MAX);
      const { rows, runs: counted } = frontierOf(found, () => {
        check();
        deadline.check();
      });
      const shown = rows.slice(0, limit);
      const heads = await index.call("identify", [table.id, shown]);
      const runs = heads.map((head, i) =>
        Object.assign(head, { values: found.map(({ values }) => values[shown[i]!]!) }),
      );
      return { runs, total: rows.length, counted };
    },
  },
  toPlainError,
);
