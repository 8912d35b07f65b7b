import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { ARBITRARY_NOW_US, arbitraryQuery, arbitraryRuns } from "#lang/query/testing/arbitrary.ts";
import type { ScriptRun } from "#lang/query/testing/script.ts";
import type { Query } from "#lang/query/ast.ts";
import {
  feedRow,
  idOf,
  namespaceIdOf,
  metricFeed,
  modelRequest,
  RunFeeder,
  scriptModels,
  scriptRow,
  scriptSeries,
  searchRequest,
} from "../../contract/run-feeder.ts";
import { BLOCK_ROWS } from "../cells/cells.ts";
import { RunIndex, type RunPart } from "../index.ts";
import { type Columns, openColumns } from "../open.ts";
import { readSnapshot, writeSnapshot } from "./snapshot-file.ts";
import { SnapshotKeeper } from "./snapshot-keeper.ts";

const NO_CHANGE = { reset: false, runs: [], purged: [], metrics: undefined };
const MARK = { journal: "j", position: 7 };
/** Enough for a full block, which has no codes of its own, and a part of another. */
const ROWS = BLOCK_ROWS + 3_000;

describe("snapshots of the run index", () => {
  let directory: string;
  let file: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "cairn-snapshot-"));
    file = join(directory, "index");
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const read = () => readSnapshot(file, (next) => RunIndex.restore(next));

  function expectSame(found: RunIndex, expected: RunIndex, query: Query): void {
    const request = searchRequest(query, {
      limit: 200,
      nowUs: ARBITRARY_NOW_US,
      metrics: (["last", "min", "mean", "count"] as const).map((stat) => ({ key: "loss", stat })),
    });
    expect(found.search(request)).toEqual(expected.search(request));
    const ofModels = modelRequest(query, { limit: 200, nowUs: ARBITRARY_NOW_US });
    expect(found.searchModels(ofModels)).toEqual(expected.searchModels(ofModels));
  }

  it("J6, M13: restore the content of the index when it was captured, whatever changed while it was written", async () => {
    const samples = fc.sample(arbitraryRuns(12), { numRuns: 400, seed: 1 }).flat();
    const part = (keys: readonly number[], change: (run: ScriptRun, key: number) => ScriptRun): RunPart => {
      const runs = keys.map((key) => [key, change(samples[key % samples.length]!, key)] as const);
      const labelled = keys.filter((key) => key % 5 === 0);
      return {
        ...NO_CHANGE,
        runs: runs.map(([key, run]) => ({
          ...scriptRow({ ...run, id: idOf(key) }, key),
          aliases: [`a${key}`],
        })),
        metrics: metricFeed([
          ...runs.flatMap(([key, run]) => scriptSeries(run, key)),
          ...keys.map((key) => ({ run: key, key: "loss", points: [key % 7, (key * 31) % 11] })),
          ...labelled.map((key) => ({ run: key, key: "rank", label: `r${key % 3}`, points: [key] })),
        ]),
        models: {
          gone: keys.filter((key) => key % 7 === 0).map((key) => 100 * key),
          rows: runs.flatMap(([key, run]) => scriptModels(run, key)),
        },
      };
    };
    const paths = new Set(samples.map(({ namespace }) => namespace));
    const all = Array.from({ length: ROWS }, (_, key) => key);
    const inTrash = [...paths].map((path) => [namespaceIdOf(path), path, path === "a/bc"] as const);
    const parts = [
      part(all, (run) => run),
      { ...NO_CHANGE, namespaces: inTrash, purged: all.filter((key) => key % 9 === 4) },
    ];
    const later = [
      part(
        all.filter((key) => key % 2 === 0),
        (run, key) => ({ ...run, params: `{"fresh":${key}}`, name: `later ${key}` }),
      ),
      { ...NO_CHANGE, purged: all.filter((key) => key % 10 === 1) },
      part(
        all.filter((key) => key % 9 === 4),
        (run) => run,
      ),
      {
        ...NO_CHANGE,
        namespaces: [...paths].map((path) => [namespaceIdOf(path), `${path}/moved`, path === "ab"] as const),
      },
    ];
    const [index, expected] = [new RunIndex(), new RunIndex()];
    for (const one of parts) for (const each of [index, expected]) each.apply(one);
    const records = index.capture();
    for (const one of later) index.apply(one);
    await writeSnapshot(file, MARK, records);
    const found = read()!;
    expect(found.mark).toEqual(MARK);
    const check = (restored: RunIndex, other: RunIndex) =>
      fc.assert(
        fc.property(arbitraryQuery(true), (query) => expectSame(restored, other, query)),
        { numRuns: 12 },
      );
    check(found.restored, expected);
    for (const one of later) for (const each of [found.restored, expected]) each.apply(one);
    check(found.restored, expected);
    check(index, expected);
    for (const each of [index, found.restored, expected]) {
      expect(each.search(searchRequest("", { under: "a/b/moved" })).total).toBeGreaterThan(0);
      expect(each.search(searchRequest('namespace = "a/b"')).total).toBe(0);
      expect(each.search(searchRequest("", { only: [idOf(0), idOf(1), idOf(2)] })).total).toBe(2);
      expect(each.search(searchRequest('alias in ("a6", "a11", "a4")')).total).toBe(2);
    }
  });

  it("J7, M13: damaged, truncated, absent ones and those of another version are ignored", async () => {
    const index = new RunIndex();
    const runs = Array.from({ length: 50 }, (_, key) =>
      feedRow(key, { params: `{"x":${key}}`, aliases: [`a${key}`] }),
    );
    index.apply({ ...NO_CHANGE, runs, metrics: metricFeed([{ run: 3, key: "m", points: [1, 2] }]) });
    expect(read()).toBeUndefined();
    await writeSnapshot(file, MARK, index.capture());
    expect(read()?.restored.search(searchRequest("")).total).toBe(50);
    const whole = readFileSync(file);
    const expectNone = (bytes: Uint8Array, what: string) => {
      writeFileSync(file, bytes);
      expect(read(), what).toBeUndefined();
    };
    for (let size = 0; size < whole.length; size += 211)
      expectNone(whole.subarray(0, size), `cut at ${size}`);
    expectNone(Buffer.concat([whole, Buffer.of(0)]), "one byte more");
    for (let at = 0; at < whole.length; at += 101) {
      const flipped = Buffer.from(whole);
      flipped[at]! ^= 1 << (at % 8);
      expectNone(flipped, `flipped at ${at}`);
    }
    const older = Buffer.from(whole);
    for (const version of [0, 1, 2, 3, 5]) {
      older.writeUInt32LE(version, 8);
      expectNone(older, `version ${version}`);
    }
    writeFileSync(file, whole);
    expect(read()?.mark).toEqual(MARK);
  });

  it("J7 an unusable one is deleted, also while one is being written", async () => {
    const index = new RunIndex();
    index.apply({ ...NO_CHANGE, runs: Array.from({ length: ROWS }, (_, key) => feedRow(key)) });
    await writeSnapshot(file, MARK, index.capture());
    const keeper = new SnapshotKeeper({ file, index, runsMin: ROWS + 1, written: MARK });
    keeper.discard();
    expect(existsSync(file)).toBe(false);

    const writing = new SnapshotKeeper({ file, index, runsMin: 1, written: undefined });
    writing.tend(MARK, true);
    writing.discard();
    await writing.finish(undefined);
    expect(existsSync(file)).toBe(false);
    await writing.finish({ ...MARK, position: 8 });
    expect(read()?.mark.position).toBe(8);
  });

  it("J6 write the first while the index is not busy, and later ones also while it is", async () => {
    const index = new RunIndex();
    index.apply({ ...NO_CHANGE, runs: [feedRow(1)] });
    const keeper = new SnapshotKeeper({ file, index, runsMin: 1, written: undefined });
    keeper.tend(MARK, false);
    await keeper.finish(undefined);
    expect(existsSync(file)).toBe(false);
    keeper.tend(MARK, true);
    await keeper.finish(undefined);
    expect(read()?.mark).toEqual(MARK);
    const later = { ...MARK, position: MARK.position + 50_000 };
    keeper.tend(later, false);
    await keeper.finish(undefined);
    expect(read()?.mark).toEqual(later);
  });

  it("J6 write the first after a minute, however busy the index is", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const index = new RunIndex();
    index.apply({ ...NO_CHANGE, runs: [feedRow(1)] });
    const keeper = new SnapshotKeeper({ file, index, runsMin: 1, written: undefined });
    vi.advanceTimersByTime(59_000);
    keeper.tend(MARK, false);
    await keeper.finish(undefined);
    expect(existsSync(file)).toBe(false);
    vi.advanceTimersByTime(1_000);
    keeper.tend(MARK, false);
    await keeper.finish(undefined);
    expect(read()?.mark).toEqual(MARK);
  });

  it("J6 keep the old one when the new one cannot be written", async () => {
    const index = new RunIndex();
    index.apply({ ...NO_CHANGE, runs: [feedRow(1)] });
    await writeSnapshot(file, MARK, index.capture());
    function* failing(): Generator {
      yield 1;
      throw new Error("no");
    }
    await expect(writeSnapshot(file, { ...MARK, position: 8 }, failing())).rejects.toThrow("no");
    expect(read()?.mark).toEqual(MARK);
  });

  describe("in a thread", () => {
    let columns: Columns;
    afterEach(() => columns.search.close());
    const open = async (feeder: RunFeeder, snapshotRunsMin = 1) => {
      columns = openColumns({ snapshot: file, snapshotRunsMin });
      await columns.follow(feeder.link());
    };

    it("J6 are written at the end, and the next index reads only later changes", async () => {
      const feeder = new RunFeeder();
      await open(feeder);
      feeder.tell({ runs: [feedRow(1), feedRow(2)] });
      expect((await columns.search.search(searchRequest(""))).total).toBe(2);
      await columns.search.close();
      const { asked } = feeder;
      await open(feeder);
      expect((await columns.search.search(searchRequest(""))).total).toBe(2);
      // Once, to check whether the mark is known.
      expect(feeder.asked).toBe(asked + 1);
      feeder.tell({ runs: [feedRow(3)], purged: [1] });
      expect((await columns.search.search(searchRequest("order by id"))).ids).toEqual([2, 3].map(idOf));
      expect(feeder.asked).toBe(asked + 2);
    });

    it("J6 are not written for a few runs", async () => {
      const feeder = new RunFeeder();
      await open(feeder, 3);
      feeder.tell({ runs: [feedRow(1), feedRow(2)] });
      expect((await columns.search.search(searchRequest(""))).total).toBe(2);
      await columns.search.close();
      expect(read()).toBeUndefined();
    });
  });
});
