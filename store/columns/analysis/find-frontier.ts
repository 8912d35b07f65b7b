import { frontierOf } from "#core/explore/frontier.ts";
import type { RunColumn } from "#core/explore/run-table.ts";
import type { FoundFrontier, FrontierRequest, FrontierRun } from "#core/ports/run-search.ts";
import type { Field } from "#lang/query/ast.ts";

type Head = Pick<FrontierRun, "id" | "name" | "namespace">;

/** The columns of the selected runs, and their identity. */
export interface FrontierTable {
  readonly count: number;
  column(field: Field): Promise<RunColumn | undefined>;
  /** undefined for those that were purged meanwhile. */
  identify(places: readonly number[]): Promise<(Head | undefined)[]>;
}

/** `check` as in frontierOf. */
export async function findFrontier(
  table: FrontierTable,
  goals: FrontierRequest["goals"],
  limit: number,
  check: () => void,
): Promise<FoundFrontier> {
  const columns = await Promise.all(goals.map(({ field }) => table.column(field)));
  const found = columns.map((column, i) => ({
    values: column?.kind === "number" ? column.values : new Float64Array(table.count).fill(Number.NaN),
    maximize: goals[i]!.maximize,
  }));
  const { rows, runs: counted } = frontierOf(found, check);
  const shown = rows.slice(0, limit);
  const heads = await table.identify(shown);
  const runs = heads.flatMap((head, i) =>
    head === undefined
      ? []
      : [Object.assign(head, { values: found.map(({ values }) => values[shown[i]!]!) })],
  );
  return { runs, total: rows.length, counted };
}
