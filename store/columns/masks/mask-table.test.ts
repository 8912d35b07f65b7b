import { afterEach, describe, expect, it } from "vitest";
import type { ReadMask } from "#core/types/scope.ts";
import { feedRow, idOf, RunFeeder, searchRequest } from "../../contract/run-feeder.ts";
import { BLOCK_ROWS } from "../cells/cells.ts";
import { RunIndex } from "../index.ts";
import { type Columns, openColumns } from "../open.ts";

const NO_CHANGE = { reset: false, runs: [], purged: [], metrics: undefined };

function mask(id: string, paths: readonly string[], runs: readonly [number, boolean][] = []): ReadMask {
  return {
    id,
    namespaces: new Map([["", false], ...paths.map((path) => [path, true] as const)]),
    runs: new Map(runs.map(([key, readable]) => [idOf(key), readable])),
  };
}

describe("masks in the index", () => {
  it("A20 stay right when the dictionary of namespaces drops texts and renumbers", () => {
    const index = new RunIndex();
    const readable = mask("m", ["in"], [[2, true]]);
    const isIn = (round: number) => (round * 7_919) % 11 < 5;
    for (let round = 0; round < 3_000; round++) {
      const namespace = `${isIn(round) ? "in" : "out"}/${round}`;
      index.apply({ ...NO_CHANGE, runs: [feedRow(round % 3, { namespace })] });
      const { ids, total } = index.search(searchRequest("order by id", { readable }));
      const live = [round - 2, round - 1, round].filter((at) => at >= 0);
      const expected = live.filter((at) => isIn(at) || at % 3 === 2).map((at) => idOf(at % 3));
      expect(ids, String(round)).toEqual(expected.sort());
      expect(total).toBe(expected.length);
    }
  });

  it.each([3, 4, 5])("A20 stay right when the dictionary of ids does, %i runs at a time", (live) => {
    const index = new RunIndex();
    for (let key = 0; key < 1_500; key++) {
      index.apply({ ...NO_CHANGE, purged: [key - live], runs: [feedRow(key)] });
      const only = Array.from({ length: live + 1 }, (_, back) => idOf(key - back));
      const { total } = index.search(searchRequest("", { only }));
      expect(total, String(key)).toBe(Math.min(live, key + 1));
    }
    const readable = mask("m", ["lab"], [[1_498, false]]);
    expect(index.search(searchRequest("", { readable })).total).toBe(live - 1);
  });

  it("A20 make exceptions in some blocks of rows and not in others", () => {
    const index = new RunIndex();
    const rows = 3 * BLOCK_ROWS;
    const runs = Array.from({ length: rows }, (_, key) =>
      feedRow(key, { namespace: key % 2 === 0 ? "in" : "out" }),
    );
    index.apply({ ...NO_CHANGE, runs });
    const exceptions: [number, boolean][] = [
      [0, false],
      [1, true],
      [BLOCK_ROWS - 1, true],
      [2 * BLOCK_ROWS, false],
      [rows - 1, true],
      [rows + 1, true],
    ];
    const readable = mask("m", ["in"], exceptions);
    const special = new Map(exceptions);
    const expected = runs.filter(({ key }) => special.get(key) ?? key % 2 === 0).map(({ id }) => id);
    const found = index.search(searchRequest("order by id", { readable, limit: rows }));
    expect(found.total).toBe(expected.length);
    expect(found.ids).toEqual(expected);
    const rest = index.search(searchRequest('not namespace = "in" order by id', { readable }));
    expect(rest.ids).toEqual([1, BLOCK_ROWS - 1, rows - 1].map(idOf));
  });
});

describe("masks in a thread", () => {
  let columns: Columns;
  afterEach(() => columns.search.close());

  it("A20 are sent again to an index that has forgotten them", async () => {
    columns = openColumns({ masksMax: 2 });
    const feeder = new RunFeeder();
    await columns.follow(feeder.link());
    const runs = [feedRow(1, { namespace: "a" }), feedRow(2, { namespace: "b" })];
    feeder.tell({ runs });
    const masks = ["a", "b", "a", "none"].map((path, at) => mask(`m${at}`, [path]));
    for (let round = 0; round < 3; round++) {
      const found = masks.map((readable) => columns.search.search(searchRequest("", { readable })));
      const ids = (await Promise.all(found)).map((result) => result.ids);
      expect(ids).toEqual([[idOf(1)], [idOf(2)], [idOf(1)], []]);
      const tallies = await Promise.all(masks.map((readable) => columns.search.tally(readable)));
      expect(tallies.map((tally) => tally.map(({ namespace }) => namespace))).toEqual([
        ["a"],
        ["b"],
        ["a"],
        [],
      ]);
    }
  });

  it("A20 are known by their id as soon as they were sent, also while the first search waits", async () => {
    columns = openColumns();
    const feeder = new RunFeeder();
    await columns.follow(feeder.link());
    feeder.announce(1);
    const readable = mask("m", ["a"]);
    const waiting = [1, 2].map(() => columns.search.search(searchRequest("", { readable })));
    feeder.tell({ runs: [feedRow(1, { namespace: "a" })] });
    for (const found of await Promise.all(waiting)) expect(found.total).toBe(1);
  });
});
