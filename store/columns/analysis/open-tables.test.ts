import { describe, expect, it } from "vitest";
import { inSlices } from "#base/threads/in-slices.ts";
import { parseQuery } from "#lang/query/parser.ts";
import { feedRow, idOf, metricFeed } from "#store/contract/run-feeder.ts";
import { RunIndex } from "../index.ts";
import { OpenTables } from "./open-tables.ts";

const NO_CHANGE = { reset: false, runs: [], purged: [], metrics: undefined };
const ALL = { query: parseQuery("", { nowUs: 0 }), readable: undefined, under: "mine" };
const LOSS = { of: "metric", key: "loss", stat: "last" } as const;

function runs(keys: readonly number[], namespace: string) {
  return keys.map((key) => feedRow(key, { namespace, name: `run ${key}` }));
}

function losses(keys: readonly number[]) {
  return metricFeed(keys.map((run) => ({ run, key: "loss", points: [run] })));
}

/** Runs 1 to 3 in "mine", a table of them, and the current content of its places. */
async function openTable() {
  const index = new RunIndex();
  index.apply({ ...NO_CHANGE, runs: runs([1, 2, 3], "mine"), metrics: losses([1, 2, 3]) });
  const tables = new OpenTables(index);
  const { id } = await inSlices(tables.open(ALL, false), () => undefined);
  return {
    index,
    tables,
    id,
    ids: () => tables.identify(id, [0, 1, 2]).map((run) => run?.id),
    losses: () => [...(tables.column(id, LOSS)?.values ?? [])],
  };
}

function found(index: RunIndex, namespace: string): number {
  return index.tally().find((one) => one.namespace === namespace)?.runs ?? 0;
}

describe("tables of the run index that are read while it changes", () => {
  it("M10 a place never becomes another run, whatever is purged and created", async () => {
    const table = await openTable();
    table.index.apply({ ...NO_CHANGE, purged: [2], runs: runs([9], "secret"), metrics: losses([9]) });
    expect(table.ids()).toEqual([idOf(1), undefined, idOf(3)]);
    expect(table.losses()).toEqual([1, NaN, 3]);
    expect(found(table.index, "secret")).toBe(1);
  });

  it("M10 V12 runs whose points were deleted keep their places", async () => {
    const table = await openTable();
    table.index.apply({ ...NO_CHANGE, purged: [1, 2], runs: runs([1, 2], "mine"), metrics: losses([2]) });
    expect(table.ids()).toEqual([idOf(1), idOf(2), idOf(3)]);
    expect(table.losses()).toEqual([NaN, 2, 3]);
  });

  it("M10 J1 a table keeps its selection when the index is rebuilt", async () => {
    const table = await openTable();
    table.index.apply({
      reset: true,
      purged: [],
      runs: runs([7, 8, 9], "secret"),
      metrics: losses([7, 8, 9]),
    });
    expect(table.ids()).toEqual([idOf(1), idOf(2), idOf(3)]);
    expect(table.losses()).toEqual([1, 2, 3]);
  });

  it("M10 rows of purged runs are used again once no table is open", async () => {
    const { index, tables, id } = await openTable();
    index.apply({ ...NO_CHANGE, purged: [2] });
    tables.close(id);
    tables.close(id);
    index.apply({ ...NO_CHANGE, runs: runs([9], "mine") });
    const next = await inSlices(tables.open(ALL, false), () => undefined);
    expect(tables.identify(next.id, [0, 1, 2]).map((run) => run?.id)).toEqual([idOf(1), idOf(9), idOf(3)]);
  });

  it("K12 M10 an aborted count releases its rows", async () => {
    const index = new RunIndex();
    const three = [1, 2, 3].map((key) => feedRow(key, { namespace: "mine", params: '{"lr":1,"seed":2}' }));
    index.apply({ ...NO_CHANGE, runs: three, metrics: losses([1, 2, 3]) });
    const tables = new OpenTables(index);
    const work = tables.open(ALL, true);
    expect(work.next().done).toBe(false);
    index.apply({ ...NO_CHANGE, purged: [2] });
    const gone = new Error("the client disconnected");
    const giveUp = () => {
      throw gone;
    };
    await expect(inSlices(work, giveUp)).rejects.toBe(gone);
    index.apply({ ...NO_CHANGE, runs: runs([9], "mine") });
    const { id } = await inSlices(tables.open(ALL, false), () => undefined);
    expect(tables.identify(id, [1]).map((run) => run?.id)).toEqual([idOf(9)]);
  });
});
