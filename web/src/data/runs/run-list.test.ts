import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { FIRST_PAGE, RunList, type SearchPage } from "./run-list.ts";

const VIEW = { query: "", namespace: "", columns: [] };

/** Rows as a server gives them. */
class Rows {
  ids: string[];
  readonly asked: { offset: number; size: number }[] = [];
  fault: Error | undefined;

  constructor(count: number) {
    this.ids = Array.from({ length: count }, (_, i) => `run-${i}`);
  }

  readonly search: SearchPage = async (_view, { offset, size }, signal) => {
    this.asked.push({ offset, size });
    await Promise.resolve();
    signal.throwIfAborted();
    if (this.fault) throw this.fault;
    return {
      runs: this.ids.slice(offset, offset + size).map((id) => create(RunSchema, { id })),
      totalCount: BigInt(this.ids.length),
      position: "p",
    };
  };
}

const settled = (list: RunList, from: number, end: number) =>
  expect.poll(() => list.isThere(from, end)).toBe(true);
const idsOf = (list: RunList, from: number, end: number) =>
  Array.from({ length: end - from }, (_, i) => list.at(from + i)?.id);

describe("a list of runs", () => {
  it("Z4 the first page is small and has the total count", async () => {
    const rows = new Rows(100_000);
    const list = new RunList(rows.search, VIEW);
    list.look(0, 0);
    await settled(list, 0, FIRST_PAGE);
    expect({ total: list.total, asked: rows.asked }).toEqual({
      total: 100_000,
      asked: [{ offset: 0, size: FIRST_PAGE }],
    });
  });

  it("Z17 a jump anywhere reads the rows there with one call, and a little around them", async () => {
    const rows = new Rows(100_000);
    const list = new RunList(rows.search, VIEW);
    list.look(0, 30);
    await settled(list, 0, 30);
    for (const from of [50_000, 99_970, 12_345]) {
      const calls = rows.asked.length;
      list.look(from, from + 30);
      await settled(list, from - 100, from + 30);
      expect(rows.asked.length - calls).toBe(1);
      expect(rows.asked.at(-1)!.size).toBeLessThan(1_000);
      expect(idsOf(list, from, from + 30)).toEqual(rows.ids.slice(from, from + 30));
      expect(list.placeOf(`run-${from}`)).toBe(from);
    }
    // What was read stays; what lies between was never asked for.
    expect(list.rows).toHaveLength(FIRST_PAGE);
    expect(list.at(30_000)).toBeUndefined();
  });

  it("Z17 scrolling on does not wait for rows that were passed", async () => {
    const rows = new Rows(100_000);
    const never: AbortSignal[] = [];
    const list = new RunList((view, part, signal) => {
      if (part.offset < 40_000 || part.offset > 60_000) return rows.search(view, part, signal);
      never.push(signal);
      return new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason as Error)),
      );
    }, VIEW);
    list.look(0, 30);
    await settled(list, 0, 30);
    list.look(50_000, 50_030);
    list.look(80_000, 80_030);
    await settled(list, 80_000, 80_030);
    expect(never.map(({ aborted }) => aborted)).toEqual([true]);
    expect(list.failure).toBeUndefined();
  });

  it("Z4 reading stops at the last row", async () => {
    const rows = new Rows(250);
    const list = new RunList(rows.search, VIEW);
    list.look(0, 250);
    await settled(list, 0, 250);
    const calls = rows.asked.length;
    list.look(200, 100_000);
    list.need(100_000);
    await Promise.resolve();
    expect({ complete: list.isComplete, calls: rows.asked.length }).toEqual({ complete: true, calls });
  });

  it("Z4 needed rows from the first on have no gap", async () => {
    const rows = new Rows(20_000);
    const list = new RunList(rows.search, VIEW);
    list.look(15_000, 15_030);
    list.need(5_000);
    await expect.poll(() => list.rows.length).toBe(5_000);
    await settled(list, 15_000, 15_030);
    expect(rows.asked.length).toBeLessThan(4);
    expect(list.rows.map(({ id }) => id)).toEqual(rows.ids.slice(0, 5_000));
  });

  it("Z19 a range of rows comes from loaded rows, or from one call", async () => {
    const rows = new Rows(20_000);
    const list = new RunList(rows.search, VIEW);
    list.look(0, 30);
    await settled(list, 0, 30);
    const calls = rows.asked.length;
    expect((await list.range(10, 30)).map(({ id }) => id)).toEqual(rows.ids.slice(10, 30));
    expect(rows.asked.length).toBe(calls);
    expect((await list.range(10, 5_010)).map(({ id }) => id)).toEqual(rows.ids.slice(10, 5_010));
    expect(rows.asked.length).toBe(calls + 1);
    expect((await list.range(19_990, 90_000)).map(({ id }) => id)).toEqual(rows.ids.slice(19_990));
    expect(await list.range(0, 20_000)).toHaveLength(10_000);
  });

  it("Z4 a failure keeps the loaded rows, and a retry continues from there", async () => {
    const rows = new Rows(2_000);
    const list = new RunList(rows.search, VIEW);
    list.look(0, 0);
    await settled(list, 0, FIRST_PAGE);
    rows.fault = new Error("away");
    list.look(1_000, 1_030);
    await expect.poll(() => list.failure).toBe(rows.fault);
    expect(list.rows).toHaveLength(FIRST_PAGE);
    rows.fault = undefined;
    list.retry();
    await settled(list, 1_000, 1_030);
    expect(list.failure).toBeUndefined();
  });

  it("Z4 a refresh that fails keeps the rows, and a retry reads them", async () => {
    const rows = new Rows(3);
    const list = new RunList(rows.search, VIEW);
    list.look(0, 3);
    await settled(list, 0, 3);
    rows.fault = new Error("away");
    await list.refresh();
    expect({ failure: list.failure, rows: list.rows.length }).toEqual({ failure: rows.fault, rows: 3 });
    rows.fault = undefined;
    rows.ids.push("late");
    list.retry();
    await expect.poll(() => list.rows.length).toBe(4);
    expect(list.failure).toBeUndefined();
  });

  it("Z9 a changed run is updated in place if it is loaded", async () => {
    const rows = new Rows(3_000);
    const list = new RunList(rows.search, VIEW);
    list.look(2_000, 2_030);
    await settled(list, 2_000, 2_030);
    const before = list.version;
    const changed = ["run-1", "run-2001"].map((id) => create(RunSchema, { id, name: "new" }));
    expect(list.patch(changed)).toBe(true);
    expect([list.rows[1].name, list.at(1)!.name, list.at(2_001)!.name]).toEqual(["new", "new", "new"]);
    expect(list.version).toBeGreaterThan(before);
    expect(list.patch([create(RunSchema, { id: "unknown" })])).toBe(false);
    expect(list.total).toBe(3_000);
  });

  it("Z9 a refresh reads the visible rows far down, and the first rows, in two calls", async () => {
    const rows = new Rows(50_000);
    const list = new RunList(rows.search, VIEW);
    list.look(40_000, 40_030);
    await settled(list, 40_000, 40_030);
    const calls = rows.asked.length;
    rows.ids = ["newest", ...rows.ids.filter((id) => id !== "run-7")];
    rows.ids.unshift("newer");
    await list.refresh();
    expect(rows.asked.length - calls).toBe(2);
    expect(idsOf(list, 40_000, 40_030)).toEqual(rows.ids.slice(40_000, 40_030));
    expect(list.placeOf("newest")).toBe(1);
    expect(list.placeOf("run-7")).toBeUndefined();
  });

  it("Z9 while runs appear, disappear and move, no run is there twice, and in the end each is in its place", async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("look" as const), at: fc.nat(1_500) }),
      fc.record({ do: fc.constant("need" as const), at: fc.nat(900) }),
      fc.record({ do: fc.constant("add" as const), at: fc.nat(1_500) }),
      fc.record({ do: fc.constant("remove" as const), at: fc.nat(1_500) }),
      fc.record({ do: fc.constant("refresh" as const), at: fc.constant(0) }),
      fc.record({ do: fc.constant("wait" as const), at: fc.nat(5) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const rows = new Rows(1_200);
        const list = new RunList(rows.search, VIEW);
        list.look(0, 30);
        let seen = 0;
        for (const [i, one] of steps.entries()) {
          if (one.do === "look") list.look((seen = one.at), one.at + 30);
          else if (one.do === "need") list.need(one.at);
          else if (one.do === "add") rows.ids.splice(one.at, 0, `added-${i}`);
          else if (one.do === "remove") rows.ids.splice(one.at, 1);
          else if (one.do === "refresh") void list.refresh();
          else for (let turn = 0; turn < one.at; turn++) await Promise.resolve();
          const ids = idsOf(list, 0, list.total).filter((id) => id !== undefined);
          expect(new Set(ids).size).toBe(ids.length);
          for (const id of ids) expect(list.at(list.placeOf(id)!)?.id).toBe(id);
        }
        await list.refresh();
        await settled(list, seen, seen + 30);
        expect(list.total).toBe(rows.ids.length);
        const end = Math.min(seen + 30, list.total);
        if (seen < end) expect(idsOf(list, seen, end)).toEqual(rows.ids.slice(seen, end));
        expect(list.rows.map(({ id }) => id)).toEqual(rows.ids.slice(0, list.rows.length));
      }),
      { numRuns: 60 },
    );
  });
});
