import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { FIRST_PAGE, RunList, type SearchPage } from "./runs.ts";

const VIEW = { query: "", namespace: "", columns: [] };

/** Pages as a server cuts them: a token names the last row. */
class Rows {
  ids: string[];
  readonly asked: { size: number; token: string }[] = [];
  fault: Error | undefined;

  constructor(count: number) {
    this.ids = Array.from({ length: count }, (_, i) => `run-${i}`);
  }

  readonly search: SearchPage = async (_view, size, token, signal) => {
    this.asked.push({ size, token });
    await Promise.resolve();
    signal.throwIfAborted();
    if (this.fault) throw this.fault;
    const from = token === "" ? 0 : this.ids.indexOf(token) + 1;
    const ids = this.ids.slice(from, from + size);
    const isLast = from + size >= this.ids.length;
    return {
      runs: ids.map((id) => create(RunSchema, { id })),
      nextPageToken: isLast ? "" : ids.at(-1)!,
      totalCount: BigInt(this.ids.length),
    };
  };
}

const settled = (list: RunList, rows: number) =>
  expect.poll(() => list.rows.length).toBeGreaterThanOrEqual(rows);

describe("a list of runs", () => {
  it("Z4 the first page is small and says how many there are", async () => {
    const rows = new Rows(100_000);
    const list = new RunList(rows.search, VIEW);
    list.need(0);
    await settled(list, FIRST_PAGE);
    expect({ total: list.total, asked: rows.asked }).toEqual({
      total: 100_000,
      asked: [{ size: FIRST_PAGE, token: "" }],
    });
  });

  it("Z4 a jump far down reads all pages before it, in few calls and without a gap", async () => {
    const rows = new Rows(100_000);
    const list = new RunList(rows.search, VIEW);
    list.need(80_000);
    await settled(list, 80_000);
    expect(rows.asked.length).toBeLessThan(25);
    expect(list.rows.map(({ id }) => id)).toEqual(rows.ids.slice(0, list.rows.length));
    expect(list.placeOf("run-79999")).toBe(79_999);
  });

  it("Z4 it ends where the rows end, and nothing more is asked", async () => {
    const rows = new Rows(250);
    const list = new RunList(rows.search, VIEW);
    list.need(250);
    await settled(list, 250);
    const calls = rows.asked.length;
    list.need(100_000);
    await Promise.resolve();
    expect({ complete: list.isComplete, calls: rows.asked.length }).toEqual({ complete: true, calls });
  });

  it("Z4 a failure stops it with the rows it has, and it goes on where it was", async () => {
    const rows = new Rows(2_000);
    const list = new RunList(rows.search, VIEW);
    list.need(0);
    await settled(list, FIRST_PAGE);
    rows.fault = new Error("away");
    list.need(1_000);
    await expect.poll(() => list.failure).toBe(rows.fault);
    expect(list.rows).toHaveLength(FIRST_PAGE);
    rows.fault = undefined;
    list.retry();
    await settled(list, 1_000);
    expect(list.rows.map(({ id }) => id)).toEqual(rows.ids.slice(0, list.rows.length));
  });

  it("Z4 a refresh that fails keeps the rows, and trying again reads them", async () => {
    const rows = new Rows(3);
    const list = new RunList(rows.search, VIEW);
    list.need(0);
    await settled(list, 3);
    rows.fault = new Error("away");
    await list.refresh();
    expect({ failure: list.failure, rows: list.rows.length }).toEqual({ failure: rows.fault, rows: 3 });
    rows.fault = undefined;
    rows.ids.push("late");
    list.retry();
    await settled(list, 4);
    expect(list.failure).toBeUndefined();
  });

  it("Z9 a change is put in its place; what is not there is not", async () => {
    const rows = new Rows(3);
    const list = new RunList(rows.search, VIEW);
    list.need(3);
    await settled(list, 3);
    const before = list.version;
    expect(list.patch([create(RunSchema, { id: "run-1", name: "new" })])).toBe(true);
    expect(list.rows[1].name).toBe("new");
    expect(list.version).toBeGreaterThan(before);
    expect(list.patch([create(RunSchema, { id: "stranger" })])).toBe(false);
    expect(list.rows).toHaveLength(3);
  });

  it("Z9 a refresh shows what came and went, without a row twice, also while pages are under way", async () => {
    const rows = new Rows(5_000);
    const list = new RunList(rows.search, VIEW);
    list.need(0);
    await settled(list, FIRST_PAGE);
    list.need(3_000);
    rows.ids = ["newest", ...rows.ids.filter((id) => id !== "run-7")];
    await list.refresh();
    list.need(3_000);
    await settled(list, 3_000);
    expect(list.rows.map(({ id }) => id)).toEqual(rows.ids.slice(0, list.rows.length));
    expect(list.placeOf("newest")).toBe(0);
    expect(list.placeOf("run-7")).toBeUndefined();
  });
});
