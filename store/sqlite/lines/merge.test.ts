import { cpSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { SharedNumber } from "#base/threads/shared-number.ts";
import { logLines, readAll } from "#store/contract/naive-log.ts";
import { appendOne, createRun, envelope, newRun, NOW_US, numbers, refused } from "#store/contract/stores.ts";
import { Db } from "../file/db.ts";
import { Lines } from "./lines.ts";
import { LinesMerge } from "./merge.ts";
import { packLines } from "./pack.ts";
import { packEnvelope } from "../journal/pack.ts";
import { migrate } from "../file/schema.ts";
import { openIn, openOnDisk, tamper } from "../testing/under-test.ts";
import { StoreWriter } from "../writer.ts";

const LONG_MS = 60_000;

describe("the choice of rows to merge", () => {
  let db: Db;
  let merge: LinesMerge;
  let lines: Lines;

  beforeEach(() => {
    db = Db.open(":memory:");
    migrate(db, ":memory:");
    db.exec("PRAGMA foreign_keys = OFF");
    merge = new LinesMerge(db);
    lines = new Lines(db, merge);
  });

  const append = (run: number, count: number, size = 100) =>
    lines.append(run, packLines([logLines(Array.from({ length: count }, () => "x".repeat(size)))]), NOW_US);
  const rowsOf = (run: number) => Number(db.find("SELECT count(*) FROM line_row WHERE run = ?", run)![0]);
  const chunksOf = (run: number) =>
    db
      .all("SELECT first, count FROM line_chunk WHERE run = ? ORDER BY first", run)
      .map((row) => row.map(Number));

  it("L6 waits until there is enough for a chunk, and leaves what is beyond it", () => {
    append(1, 100);
    expect(merge.due).toBe(false);
    for (let i = 0; i < 29; i++) append(1, 100);
    expect(merge.due).toBe(true);
    merge.slice(LONG_MS);
    expect(merge.due).toBe(false);
    expect(chunksOf(1)).toEqual([[0, 2200]]);
    expect(rowsOf(1)).toBe(8);
  });

  it("L6 merges many small rows though they are little", () => {
    for (let i = 0; i < 511; i++) append(1, 1);
    expect(merge.due).toBe(false);
    append(1, 1);
    merge.slice(LONG_MS);
    expect(rowsOf(1)).toBe(0);
    expect(chunksOf(1)).toEqual([[0, 512]]);
  });

  it("L6 merges everything of a run that has been quiet between two looks, and of no other", () => {
    append(1, 3);
    append(2, 3);
    expect(merge.tend()).toBe(false);
    append(2, 3);
    expect(merge.tend()).toBe(true);
    merge.slice(LONG_MS);
    expect([rowsOf(1), rowsOf(2)]).toEqual([0, 2]);
    expect(merge.tend()).toBe(true);
    merge.slice(LONG_MS);
    expect([rowsOf(1), rowsOf(2)]).toEqual([0, 0]);
    expect(merge.tend()).toBe(false);
  });

  it("L6 finds waiting rows in the file after a restart", () => {
    append(1, 3);
    const again = new LinesMerge(db);
    again.reload();
    expect(again.due).toBe(false);
    expect(again.tend()).toBe(true);
    again.slice(LONG_MS);
    expect(chunksOf(1)).toEqual([[0, 3]]);
  });

  it("L6 keeps chunks few, and rewrites no line very often", () => {
    let written = 0;
    const rounds = 1_500;
    for (let i = 0; i < rounds; i++) {
      append(1, 1, 50);
      merge.request();
      merge.slice(LONG_MS);
      // The newest chunk is what this round wrote.
      written += chunksOf(1).at(-1)![1]!;
      expect(chunksOf(1).length).toBeLessThan(15);
    }
    expect(written / rounds).toBeLessThan(20);
    expect(rowsOf(1)).toBe(0);
  });

  it("L6 makes pieces of an envelope that is too large for one", () => {
    append(1, 20, 60_000);
    expect(rowsOf(1)).toBe(5);
    append(2, 1, 65_536);
    expect(rowsOf(2)).toBe(1);
    merge.request();
    merge.slice(LONG_MS);
    expect(chunksOf(1)).toEqual([0, 4, 8, 12, 16].map((first) => [first, 4]));
  });

  it("starts empty after an envelope that could not be packed", () => {
    const wrong = logLines(["bad"], { times: Float64Array.of(0.5) });
    expect(() => packLines([logLines(["left over"]), wrong])).toThrow("0.5");
    expect(packLines([logLines(["a"])])).toMatchObject([{ count: 1, size: 1 }]);
  });
});

describe("merging in a store", () => {
  it("L6, D2 loses and duplicates no line when it is interrupted between any two slices", async () => {
    const under = await openOnDisk();
    const images = join(under.directory, "images");
    const file = join(under.directory, "own", "cairn.db");
    await mkdir(join(under.directory, "own"));
    const writer = new StoreWriter(file, new SharedNumber());
    const runs = Array.from({ length: 12 }, () => newRun());
    for (const run of runs) await writer.changeRun((table) => table.create(run, false));
    const text = (run: number, i: number) => `${run} ${i} `.padEnd(2_000, "line ");
    const append = (run: number, seq: number) => {
      const log = [logLines(Array.from({ length: 100 }, (_, i) => text(run, seq * 100 + i)))];
      const series = [numbers("loss", [seq], seq)];
      return writer.append([packEnvelope(envelope(runs[run]!.id, seq + 1, { log, series }), NOW_US)]);
    };
    for (let seq = 0; seq < 4; seq++) await Promise.all(runs.map((_, run) => append(run, seq)));
    const settled = writer.settle();
    // A copy of the files between two transactions is what a kill there leaves.
    let count = 0;
    const progress = { settled: false };
    void settled.then(() => (progress.settled = true));
    for (; !progress.settled; count++) {
      const filter = (source: string) => !source.endsWith("reserve");
      cpSync(join(under.directory, "own"), join(images, String(count)), { recursive: true, filter });
      await setImmediate();
    }
    await settled;
    writer.close();
    const states = new Set<string>();
    for (const image of (await readdir(images)).filter((name) => Number(name) % Math.ceil(count / 6) === 0)) {
      const opened = await openIn(join(images, image), join(images, image));
      tamper(opened.data, (db) => {
        const sql = "SELECT (SELECT count(*) FROM line_row), (SELECT count(*) FROM line_chunk)";
        states.add(JSON.stringify(db.prepare(sql).get()));
      });
      for (let round = 0; round < 2; round++) {
        for (const [run, { id }] of runs.entries()) {
          const lines = await readAll(opened.logs, id);
          expect(lines.map((line) => line.text)).toEqual(Array.from({ length: 400 }, (_, i) => text(run, i)));
          expect(await opened.runs.verifyRun(id)).toMatchObject({ points: 4, problems: [] });
        }
        await opened.settle();
      }
      await opened.discard();
    }
    // The cuts were at different places.
    expect(states.size).toBeGreaterThan(1);
    await under.discard();
  });

  it("L6 does not block writes when a chunk cannot be written, and retries", async () => {
    const under = await openOnDisk();
    const id = await createRun(under.runs);
    tamper(under.data, (db) =>
      db.exec("CREATE TRIGGER no BEFORE INSERT ON line_chunk BEGIN SELECT RAISE(ABORT, 'no chunk'); END"),
    );
    await appendOne(under.journal, envelope(id, 1, { log: [logLines(["1"])] }));
    await expect(under.settle()).rejects.toEqual(refused("internal"));
    const merged = under.settle();
    const series = [numbers("loss", [1])];
    const written = appendOne(under.journal, envelope(id, 2, { log: [logLines(["2"])], series }));
    await expect(merged).rejects.toEqual(refused("internal"));
    expect(await written).toMatchObject({ duplicate: false });
    tamper(under.data, (db) => db.exec("DROP TRIGGER no"));
    await under.settle();
    expect((await readAll(under.logs, id)).map(({ text }) => text)).toEqual(["1", "2"]);
    tamper(under.data, (db) =>
      expect(db.prepare("SELECT count(*) AS n FROM line_row").get()).toEqual({ n: 0 }),
    );
    expect(await under.runs.verifyRun(id)).toMatchObject({ points: 1, problems: [] });
    await under.discard();
  });

  it("D4 every reader sees every line, while others are merged", async () => {
    const under = await openOnDisk(3);
    const id = await createRun(under.runs);
    let total = 0;
    for (let seq = 1; seq <= 30; seq++) {
      const log = [logLines(Array.from({ length: 50 }, (_, i) => `${seq}.${i}`.padEnd(400)))];
      await appendOne(under.journal, envelope(id, seq, { log }));
      total += 50;
      const settled = seq % 5 === 0 ? under.settle() : undefined;
      const all = await Promise.all(Array.from({ length: 6 }, () => readAll(under.logs, id)));
      for (const lines of all) expect(lines.map(({ number }) => number)).toEqual([...Array(total).keys()]);
      await settled;
    }
    await under.discard();
  });
});
