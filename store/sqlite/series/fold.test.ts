import { cpSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SharedNumber } from "#base/threads/shared-number.ts";
import {
  AUDIT,
  ackOf,
  appendOne,
  createRun,
  envelope,
  newRun,
  NOW_US,
  numbers,
  points,
  readNumbers,
  refused,
} from "#store/contract/stores.ts";
import { packEnvelope } from "../journal/pack.ts";
import { openIn, openOnDisk, tamper, type SqliteUnderTest } from "../testing/under-test.ts";
import { StoreWriter } from "../writer.ts";

// So many that folding takes several slices also where a slice gets far.
const SERIES = 1_200;
const IMAGES_MAX = 8;

describe("folding", () => {
  let under: SqliteUnderTest & { data: string };

  beforeEach(async () => {
    under = await openOnDisk();
  });
  afterEach(() => under.discard());

  const reopen = async () => {
    under = (await under.reopen!()) as typeof under;
  };
  const tableOf = (sql: string) => {
    let rows: Record<string, unknown>[] = [];
    tamper(under.data, (db) => (rows = db.prepare(sql).all()));
    return rows;
  };

  it("D2 O4 loses and duplicates nothing when it is interrupted between any two slices", async () => {
    const images = join(under.directory, "images");
    const file = join(under.directory, "own", "cairn.db");
    await mkdir(join(under.directory, "own"));
    const writer = new StoreWriter(file, new SharedNumber());
    const runs = [newRun(), newRun()];
    for (const run of runs) await writer.changeRun((table) => table.create(run, false));
    const append = async (run: number, seq: number) => {
      const series = Array.from({ length: SERIES }, (_, i) => numbers(`k${i}`, [seq + i, -i], 2 * seq));
      await writer.append([packEnvelope(envelope(runs[run]!.id, seq, { series }), NOW_US)]);
    };
    for (let seq = 1; seq <= 10; seq++) await append(0, seq);
    const settled = writer.settle();
    // A copy of the files between two transactions is what a kill there leaves.
    let count = 0;
    let acknowledged = 0;
    const progress = { settled: false };
    void settled.then(() => (progress.settled = true));
    for (; !progress.settled; count++) {
      const filter = (source: string) => !source.endsWith("reserve");
      cpSync(join(under.directory, "own"), join(images, String(count)), { recursive: true, filter });
      if (count % 2 === 1) await append(1, ++acknowledged);
      await setImmediate();
    }
    await settled;
    writer.close();
    expect(count).toBeGreaterThan(3);
    const folds = new Set<unknown>();
    const step = Math.ceil(count / IMAGES_MAX);
    for (const image of (await readdir(images)).filter((name) => Number(name) % step === 0)) {
      const opened = await openIn(join(images, image), join(images, image));
      const first = runs[0]!.id;
      tamper(opened.data, (db) => {
        const counts =
          "SELECT (SELECT count(*) FROM series WHERE folded_pos > 0), (SELECT count(*) FROM log)";
        folds.add(JSON.stringify(db.prepare(counts).get()));
      });
      const check = async () => {
        const ledger = await opened.runs.verifyRun(first);
        expect(ledger).toMatchObject({
          points: 20 * SERIES,
          problems: [],
          writers: [{ lastSeq: 10, gaps: [] }],
        });
        for (const i of [0, 77, SERIES - 1]) {
          const values = Array.from({ length: 10 }, (_, at) => [at + 1 + i, -i]).flat();
          expect(await readNumbers(opened.points, first, `k${i}`)).toEqual(values);
        }
        const other = await opened.runs.verifyRun(runs[1]!.id);
        expect(other.points).toBe((other.writers[0]?.envelopes ?? 0) * 2 * SERIES);
        expect(other.problems).toEqual([]);
      };
      await check();
      await opened.settle();
      await check();
      await opened.discard();
    }
    // The cuts were at different places.
    expect(folds.size).toBeGreaterThan(2);
  });

  it("O4 continues in slices while envelopes arrive", async () => {
    const id = await createRun(under.runs);
    const write = (seq: number) => {
      const series = Array.from({ length: 60 }, (_, i) => numbers(`k${i}`, [seq], seq));
      return under.journal.append([envelope(id, seq, { series })], NOW_US).then(([done]) => ackOf(done));
    };
    const writes: Promise<unknown>[] = [];
    const settles: Promise<void>[] = [];
    for (let seq = 1; seq <= 120; seq++) {
      writes.push(write(seq));
      if (seq % 30 === 0) settles.push(under.settle());
      if (seq % 15 === 0) await writes.at(-1);
    }
    await Promise.all([...writes, ...settles]);
    const expected = Array.from({ length: 120 }, (_, i) => i + 1);
    for (let round = 0; round < 2; round++) {
      expect(await readNumbers(under.points, id, "k0")).toEqual(expected);
      expect(await readNumbers(under.points, id, "k59")).toEqual(expected);
      expect(await under.runs.verifyRun(id)).toMatchObject({ points: 7200, problems: [] });
      await reopen();
    }
  });

  it("O4 fills chunks up instead of leaving a small one per fold", async () => {
    const id = await createRun(under.runs);
    for (let seq = 1; seq <= 12; seq++) {
      await appendOne(under.journal, envelope(id, seq, { series: [numbers("loss", [seq], seq)] }));
      await under.settle();
    }
    expect(tableOf("SELECT first_ordinal, count FROM chunk")).toEqual([{ first_ordinal: 0, count: 12 }]);
    const many = Array.from({ length: 10_000 }, (_, i) => i);
    await appendOne(under.journal, envelope(id, 13, { series: [numbers("loss", many, 13)] }));
    await under.settle();
    const counts = tableOf("SELECT count FROM chunk ORDER BY id").map(({ count }) => Number(count));
    expect(counts.reduce((sum, count) => sum + count)).toBe(10_012);
    expect(Math.min(...counts)).toBeGreaterThan(1_000);
  });

  it("never reuses a position of the log", async () => {
    const id = await createRun(under.runs);
    const gone = await createRun(under.runs);
    const positions: unknown[] = [];
    const write = async (run: string, seq: number) => {
      await appendOne(under.journal, envelope(run, seq, { series: [numbers("loss", [seq], seq)] }));
      positions.push(tableOf("SELECT max(pos) AS pos FROM log")[0]!.pos);
    };
    for (let seq = 1; seq <= 3; seq++) await write(id, seq);
    await under.settle();
    await reopen();
    for (let seq = 4; seq <= 5; seq++) await write(id, seq);
    // The newest rows of the log go with the run they belong to.
    for (let seq = 1; seq <= 3; seq++) await write(gone, seq);
    await under.runs.setDeleted(gone, NOW_US, AUDIT);
    await under.runs.purgeRun(gone, AUDIT);
    await reopen();
    for (let seq = 6; seq <= 8; seq++) await write(id, seq);
    expect(positions).toEqual([...new Set(positions)].toSorted((a, b) => Number(a) - Number(b)));
    expect(await readNumbers(under.points, id, "loss")).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it("D5 loses nothing when a run is purged in the middle of a fold and the store is opened again", async () => {
    const keep = await createRun(under.runs);
    const gone = await createRun(under.runs);
    for (let seq = 1; seq <= 3; seq++) {
      await appendOne(under.journal, envelope(keep, seq, { series: [numbers("loss", [seq], seq)] }));
      await appendOne(under.journal, envelope(gone, seq, { series: [numbers("loss", [-seq], seq)] }));
    }
    // As after a kill between folding one series and deleting the rows: it is past the end of the log.
    await under.runs.setDeleted(gone, NOW_US, AUDIT);
    await Promise.all([under.settle(), under.runs.purgeRun(gone, AUDIT)]);
    await reopen();
    await appendOne(under.journal, envelope(keep, 4, { series: [numbers("loss", [4], 4)] }));
    expect(await readNumbers(under.points, keep, "loss")).toEqual([1, 2, 3, 4]);
    expect(await under.engine.integrity!.checkIntegrity()).toEqual({ points: 4, runs: 1, problems: [] });
  });

  const deleteFrom = (runId: string, from: number | undefined) => {
    const matchers = [{ label: "", op: "=", value: "loss" } as const];
    const range = { axis: "step", from, to: undefined, after: undefined } as const;
    const bounds = { pointsMax: 1e9, seriesMax: 10 };
    return under.points.deleteSeries({ owner: { runId }, matchers, ...range, ...bounds }, AUDIT);
  };

  it("V12 deletes exactly in the middle of a fold, also when the store is opened again", async () => {
    const id = await createRun(under.runs);
    for (let seq = 1; seq <= 3; seq++) {
      const series = [numbers("loss", [seq], seq), numbers("acc", [-seq], seq)];
      await appendOne(under.journal, envelope(id, seq, { series }));
    }
    await Promise.all([under.settle(), deleteFrom(id, 3)]);
    await appendOne(under.journal, envelope(id, 4, { series: [numbers("loss", [4], 4)] }));
    await Promise.all([deleteFrom(id, 4), under.settle()]);
    await reopen();
    expect(await readNumbers(under.points, id, "loss")).toEqual([1, 2]);
    expect(await readNumbers(under.points, id, "acc")).toEqual([-1, -2, -3]);
    expect(await under.engine.integrity!.checkIntegrity()).toEqual({ points: 5, runs: 1, problems: [] });
  });

  it("V12 deletes across many chunks, moves up later ones, and frees the space", async () => {
    const id = await createRun(under.runs);
    const CHUNK = 65_535;
    for (let seq = 1; seq <= 4; seq++) {
      const noise = Array.from({ length: CHUNK }, () => Math.random());
      await appendOne(
        under.journal,
        envelope(id, seq, { series: [numbers("loss", noise, (seq - 1) * CHUNK)] }),
      );
    }
    await under.settle();
    const before = (await under.engine.info()).sizeBytes;
    const matchers = [{ label: "", op: "=", value: "loss" } as const];
    const middle = { axis: "step", from: 10, to: 3 * CHUNK + 9, after: undefined } as const;
    const bounds = { pointsMax: 1, seriesMax: 1 };
    const asked = { owner: { runId: id }, matchers, ...middle, ...bounds };
    expect(await under.points.deleteSeries(asked, AUDIT)).toMatchObject({ points: 3 * CHUNK });
    await under.settle();
    expect(await readNumbers(under.points, id, "loss")).toHaveLength(CHUNK);
    const { points: left, problems } = await under.runs.verifyRun(id);
    expect({ left, problems }).toEqual({ left: CHUNK, problems: [] });
    expect((await under.engine.info()).sizeBytes).toBeLessThan(before / 2);
  });

  it("E2 E3 recognizes numbers after many folds, with losses in between", async () => {
    const id = await createRun(under.runs);
    const made = (seq: number) =>
      envelope(id, seq, {
        series: [numbers("loss", [seq], seq)],
        lost: seq % 10 === 0 ? [{ first: seq - 3, last: seq - 1 }] : [],
      });
    const seqs = Array.from({ length: 60 }, (_, i) => i + 1).filter((seq) => seq % 10 === 0 || seq % 10 < 7);
    for (const seq of seqs) {
      await appendOne(under.journal, made(seq));
      if (seq % 7 === 0) await under.settle();
      if (seq % 25 === 0) await reopen();
    }
    for (let round = 0; round < 2; round++) {
      const again = await under.journal.append(seqs.map(made), NOW_US);
      expect(again.every((outcome) => outcome.ok && outcome.ack.duplicate)).toBe(true);
      const others = seqs.map((seq) => envelope(id, seq, { series: [numbers("loss", [-seq], seq)] }));
      for (const outcome of await under.journal.append(others, NOW_US)) {
        expect(outcome).toEqual({ ok: false, error: refused("exists", "SEQ_REUSED") });
      }
      expect((await under.runs.verifyRun(id)).writers).toMatchObject([{ envelopes: seqs.length, gaps: [] }]);
      await under.settle();
      await reopen();
    }
  });

  it("does not block writes when a chunk cannot be written, and retries", async () => {
    const id = await createRun(under.runs);
    tamper(under.data, (db) =>
      db.exec("CREATE TRIGGER no BEFORE INSERT ON chunk BEGIN SELECT RAISE(ABORT, 'no chunk'); END"),
    );
    await appendOne(under.journal, envelope(id, 1, { series: [numbers("loss", [1])] }));
    await expect(under.settle()).rejects.toEqual(refused("internal"));
    for (let seq = 2; seq <= 4; seq++) {
      // Both are in one transaction, and only one of them fails.
      const folded = under.settle();
      const written = appendOne(under.journal, envelope(id, seq, { series: [numbers("loss", [seq], seq)] }));
      await expect(folded).rejects.toEqual(refused("internal"));
      expect(await written).toMatchObject({ duplicate: false });
    }
    expect(await readNumbers(under.points, id, "loss")).toEqual([1, 2, 3, 4]);
    tamper(under.data, (db) => db.exec("DROP TRIGGER no"));
    await under.settle();
    expect(tableOf("SELECT count(*) AS n FROM log")).toEqual([{ n: 0 }]);
    expect(await readNumbers(under.points, id, "loss")).toEqual([1, 2, 3, 4]);
    expect(await under.runs.verifyRun(id)).toMatchObject({ points: 4, problems: [] });
  });

  it("does not wait for a long read to empty the write-ahead log", async () => {
    const id = await createRun(under.runs);
    const { DatabaseSync } = await import("node:sqlite");
    const other = new DatabaseSync(join(under.data, "cairn.db"), { readOnly: true });
    other.exec("BEGIN");
    other.prepare("SELECT count(*) FROM run").get();
    const start = performance.now();
    for (let seq = 1; seq <= 4; seq++) {
      await appendOne(under.journal, envelope(id, seq, { series: [numbers("loss", [seq], seq)] }));
      await under.settle();
    }
    // Each used to wait for as long as SQLite waits for a lock, which is ten seconds.
    expect(performance.now() - start).toBeLessThan(30_000);
    other.close();
    expect(await readNumbers(under.points, id, "loss")).toEqual([1, 2, 3, 4]);
  });

  it("refuses points of a series that is in far too many pieces", async () => {
    const id = await createRun(under.runs);
    await appendOne(under.journal, envelope(id, 1, { series: [numbers("loss", [1])] }));
    await under.settle();
    await under.engine.close();
    tamper(under.data, (db) => db.exec("UPDATE series SET chunks = 600000"));
    await reopen();
    const more = appendOne(under.journal, envelope(id, 2, { series: [numbers("loss", [2], 1)] }));
    await expect(more).rejects.toEqual(refused("exhausted", "LIMIT_EXCEEDED"));
    tamper(under.data, (db) => db.exec("UPDATE series SET chunks = 1"));
  });

  it("V4 keeps points of which only some have steps", async () => {
    const id = await createRun(under.runs);
    const bare = (value: number) => points({ kind: "number", data: Float64Array.of(value) });
    for (let seq = 1; seq <= 40; seq++) {
      const series =
        seq % 2 === 0 ? [numbers("x", [seq], seq)] : [{ key: "x", labels: [], points: bare(seq) }];
      await appendOne(under.journal, envelope(id, seq, { series }));
      if (seq % 9 === 0) await under.settle();
    }
    await reopen();
    const all = Array.from({ length: 40 }, (_, i) => i + 1);
    const expected = [...all.filter((n) => n % 2 === 0), ...all.filter((n) => n % 2 === 1)];
    expect(await readNumbers(under.points, id, "x")).toEqual(expected);
  });
});
