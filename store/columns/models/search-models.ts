import type { ModelSearchRequest, ModelSearchResult } from "#core/ports/run-search.ts";
import { systemClock } from "#base/clock.ts";
import { MODEL_TIES } from "#lang/query/compare.ts";
import type { Order } from "#lang/query/ast.ts";
import { BLOCK_ROWS } from "../cells/cells.ts";
import type { RunColumns } from "../cells/run-columns.ts";
import type { MaskTable } from "../masks/mask-table.ts";
import { blocks, selectBlock } from "../search/blocks.ts";
import { Compiler } from "../search/compile.ts";
import { Ordering, type SortKey } from "../search/ordering.ts";
import { formatToken, parseToken } from "../search/page-token.ts";
import type { SearchDeadline } from "../search/search-deadline.ts";
import { Top } from "../search/top.ts";
import type { ModelColumns } from "./model-columns.ts";
import { ModelFilter } from "./model-filter.ts";

const selection = new Uint16Array(BLOCK_ROWS);

/** Throws `invalid` (PAGE_TOKEN) for an `after` that is not of this query, and `deadline`. */
export function searchModels(
  { runs, models }: { runs: RunColumns; models: ModelColumns },
  request: ModelSearchRequest,
  readable: MaskTable | undefined,
  deadline: SearchDeadline,
): ModelSearchResult {
  const orders = [...request.query.orderBy, ...MODEL_TIES];
  const after = request.after === undefined ? undefined : parseToken(request.after, orders, 0);
  const nowUs = after?.nowUs ?? request.nowUs ?? systemClock.nowUs();
  const compiler = new Compiler(runs, nowUs, deadline, models);
  const ordering = new Ordering(orders.map((order) => sortKey(compiler, models, order)));
  const findRun = (id: string) => runs.findRow(id);
  const parts = { compiler, models, runRows: runs.rows, findRun, deadline };
  const term = new ModelFilter(parts).of(request, readable);
  const page = new Top(ordering, request.limit);

  let total = 0;
  let ahead = 0;
  for (const lo of blocks(models.rows)) {
    deadline.check();
    const hi = Math.min(lo + BLOCK_ROWS, models.rows);
    let count = selectBlock(term, lo, hi, selection);
    total += count;
    if (after !== undefined) count = ordering.keepBeyond(after.place, 1, lo, hi, selection, count);
    ahead += count;
    page.offer(lo, hi, selection, count);
  }

  const entries = page.take();
  const last = entries.length < ahead ? entries.at(-1) : undefined;
  const { id } = runs.fields;
  const { name, step } = models.fields;
  return {
    models: entries.map(({ row }) => ({
      runId: id.text(id.cells.code(models.runOf(row)!)),
      name: name.text(name.cells.code(row)),
      step: step.value(row) as number | undefined,
    })),
    total,
    next: last && formatToken({ place: last.place, nowUs }, orders),
  };
}

/** Values of the run by which models are sorted are read model by model. */
function sortKey(compiler: Compiler, models: ModelColumns, order: Order): SortKey {
  const key = compiler.sortKey(order);
  if (order.field.of === "model") return key;
  return {
    descending: key.descending,
    value: (row) => key.value(models.runOf(row)!),
    numbers: undefined,
    column: undefined,
  };
}
