import type { ReadMask } from "#core/types/scope.ts";
import { afterEach, beforeEach, expect, it } from "vitest";
import { feedRow, type OpenSearch, RunFeeder } from "../run-feeder.ts";

export function scopeContract(open: OpenSearch): void {
  let feeder: RunFeeder;
  beforeEach(async () => {
    feeder = await RunFeeder.open(open);
    feeder.tell({
      runs: [
        feedRow(1, { namespace: "a" }),
        feedRow(2, { namespace: "a/b" }),
        feedRow(3, { namespace: "a/b/c" }),
        feedRow(4, { namespace: "a/bc" }),
        feedRow(5, { namespace: "ab" }),
        feedRow(6, { namespace: "" }),
        feedRow(7, { namespace: "a/b", deletedUs: 5 }),
      ],
    });
  });
  afterEach(() => feeder.close());

  it("is only the readable namespaces, also in the total", async () => {
    expect(await feeder.find("order by id", { readable: onlyIn("a", "ab") })).toEqual([1, 5]);
    expect((await feeder.ask("", { readable: onlyIn("a/b") })).total).toBe(1);
    expect(await feeder.ask("", { readable: onlyIn() })).toMatchObject({
      ids: [],
      total: 0,
      next: undefined,
    });
    expect(await feeder.find("", { readable: onlyIn("unknown") })).toEqual([]);
    expect((await feeder.ask("")).total).toBe(6);
  });

  it("is not widened by the query", async () => {
    const readable = onlyIn("a");
    expect(await feeder.find('namespace = "ab" or id is not null', { readable })).toEqual([1]);
    expect(await feeder.find('not namespace = "a"', { readable })).toEqual([]);
  });

  it("is only the subtree of the requested namespace", async () => {
    expect(await feeder.find("order by id", { under: "a" })).toEqual([1, 2, 3, 4]);
    expect(await feeder.find("order by id", { under: "a/b" })).toEqual([2, 3]);
    expect(await feeder.find("order by id", { under: "a/b", readable: onlyIn("a", "a/b/c") })).toEqual([3]);
    expect(await feeder.find('namespace under "a/b" order by id', { under: "a" })).toEqual([2, 3]);
    expect(await feeder.find("", { under: "nowhere" })).toEqual([]);
  });

  it("is either the trash or everything else", async () => {
    expect(await feeder.find("", { trashed: true })).toEqual([7]);
    expect(await feeder.find("order by id", { under: "a/b" })).toEqual([2, 3]);
    feeder.tell({
      runs: [feedRow(7, { namespace: "a/b" }), feedRow(2, { namespace: "a/b", deletedUs: 9 })],
    });
    expect(await feeder.find("", { trashed: true })).toEqual([2]);
    expect(await feeder.find("order by id", { under: "a/b" })).toEqual([3, 7]);
    expect(await feeder.find("", { trashed: true, readable: onlyIn("a") })).toEqual([]);
  });

  it("follows a run that moves to another namespace", async () => {
    feeder.tell({ runs: [feedRow(1, { namespace: "new/place" })] });
    expect(await feeder.find("", { readable: onlyIn("a") })).toEqual([]);
    expect(await feeder.find("", { under: "new" })).toEqual([1]);
  });

  it("is counted per namespace", async () => {
    feeder.tell({
      runs: [
        feedRow(8, { namespace: "a/b", status: "running", updatedUs: 9e15 }),
        feedRow(9, { namespace: "only/trash", deletedUs: 1 }),
      ],
    });
    const tally = await feeder.runSearch.tally();
    const byPath = new Map(tally.map(({ namespace, ...counts }) => [namespace, counts]));
    expect([...byPath.keys()].sort()).toEqual(["", "a", "a/b", "a/b/c", "a/bc", "ab"]);
    expect(byPath.get("a/b")).toEqual({ runs: 2, running: 1, lastActivityUs: 9e15 });
    expect(byPath.get("a")).toEqual({ runs: 1, running: 0, lastActivityUs: feedRow(1).updatedUs });
    feeder.tell({ purged: [8, 1] });
    const later = await feeder.runSearch.tally();
    expect(later.find(({ namespace }) => namespace === "a/b")).toMatchObject({ runs: 1, running: 0 });
    expect(later.some(({ namespace }) => namespace === "a")).toBe(false);
  });
}

/** Exactly these namespaces, nothing above or below them. */
function onlyIn(...paths: string[]): ReadMask {
  const namespaces = new Map([["", false]]);
  for (const path of ["a", "ab", "a/b", "a/bc", "a/b/c"]) namespaces.set(path, paths.includes(path));
  return { id: paths.join(), namespaces, runs: new Map() };
}
