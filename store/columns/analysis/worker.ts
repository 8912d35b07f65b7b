/** The thread that computes over many runs at once. It reads columns of the index, which continues to search. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { keepCancelFlag, throwIfCancelled } from "#base/threads/cancellation.ts";
import { Caller, serveCalls } from "#base/threads/worker-call.ts";
import { importanceOf } from "#core/explore/importance.ts";
import type { RunColumn } from "#core/explore/run-table.ts";
import { CairnError, fromPlainError, toPlainError } from "#lang/errors.ts";
import type { Field } from "#lang/query/ast.ts";
import { findFrontier } from "./find-frontier.ts";
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
      const column = async (field: Field): Promise<RunColumn | undefined> => {
        check();
        return index.call("column", [table.id, field]);
      };
      return importanceOf({ count: table.count, params: table.params, column }, objective, bounds);
    },
    frontier: (table, goals, limit) => {
      const check = keepCancelFlag(throwIfCancelled);
      const deadline = new SearchDeadline(FRONTIER_MS_MAX);
      const read = {
        count: table.count,
        column: (field: Field) => index.call("column", [table.id, field]),
        identify: (places: readonly number[]) => index.call("identify", [table.id, places]),
      };
      return findFrontier(read, goals, limit, () => {
        check();
        deadline.check();
      });
    },
  },
  toPlainError,
);
