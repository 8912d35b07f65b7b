import { expect, it } from "vitest";
import {
  ackOf,
  appendOne,
  createRun,
  envelope,
  EVERYTHING,
  getRun,
  getRuns,
  newRun,
  NOW_US,
  numbers,
  readNumbers,
  refused,
  useStores,
  type OpenStores,
  selectOf,
} from "../stores.ts";

export function durableContract(open: OpenStores): void {
  const bench = useStores(open);

  it("D4 shows acknowledged writes in the very next read, list, count and feed", async () => {
    const id = await createRun(bench.runs);
    for (let seq = 1; seq <= 40; seq++) {
      await appendOne(
        bench.journal,
        envelope(id, seq, { series: [numbers("loss", [seq], seq)], change: { name: `at ${seq}` } }),
      );
      const [values, listed, run, ledger, info] = await Promise.all([
        readNumbers(bench.points, id, "loss"),
        selectOf(bench.points, id, { limit: 1 }),
        getRun(bench.runs, id),
        bench.runs.verifyRun(id),
        bench.engine.info(),
        bench.under.feed.catchUp(),
      ]);
      expect(values.at(-1)).toBe(seq);
      expect(listed.series[0]!.summary.count).toBe(seq);
      expect(run.name).toBe(`at ${seq}`);
      expect(ledger.writers[0]!.lastSeq).toBe(seq);
      expect(info.points).toBe(seq);
      expect(bench.under.feed.findNumbers(id, "loss")!.count).toBe(seq);
      if (seq % 16 === 0) await bench.under.settle();
    }
  });

  it("D4 a read that waits for nothing sees one moment of a series", async () => {
    const id = await createRun(bench.runs);
    const writes: Promise<unknown>[] = [];
    const reads: Promise<void>[] = [];
    for (let seq = 1; seq <= 100; seq++) {
      const series = [numbers("a", [seq], seq), numbers("b", [seq], seq)];
      writes.push(appendOne(bench.journal, envelope(id, seq, { series })));
      if (seq % 25 === 0) writes.push(bench.under.settle());
      const selectors = [
        { runId: id, key: "a", labels: [] },
        { runId: id, key: "b", labels: [] },
      ];
      reads.push(
        bench.points.readSeries({ ...EVERYTHING, selectors }).then(({ series: [a, b] }) => {
          // An envelope is stored as a whole or not at all.
          expect(a?.pointCount).toBe(b?.pointCount);
        }),
      );
      if (seq % 10 === 0) await reads.at(-1);
    }
    await Promise.all([...writes, ...reads]);
  });

  it("D5 answers and keeps everything that was accepted before a stop", async () => {
    const id = await createRun(bench.runs);
    const old = bench.under;
    const writes = Array.from({ length: 300 }, (_, i) =>
      old.journal.append([envelope(id, i + 1, { series: [numbers("loss", [i], i)] })], NOW_US),
    );
    const updates = [1, 2, 3].map((i) => old.runs.updateRun(id, { name: `name ${i}` }, NOW_US));
    const reads = [1, 2, 3].map(() => selectOf(old.points, id, { limit: 1 }));
    const checked = old.engine.integrity?.checkIntegrity();
    if (old.reopen === undefined) await old.engine.close();
    else await bench.reopen();
    for (const [outcome] of await Promise.all(writes))
      expect(ackOf(outcome)).toMatchObject({ duplicate: false });
    expect(await Promise.all(updates)).toHaveLength(3);
    expect(await Promise.all(reads)).toHaveLength(3);
    expect((await checked)?.problems ?? []).toEqual([]);
    if (old.reopen !== undefined) {
      expect(await readNumbers(bench.points, id, "loss")).toHaveLength(300);
      expect(await getRun(bench.runs, id)).toMatchObject({ name: "name 3" });
    }
  });

  it("D5 refuses calls after the stop, and stops once", async () => {
    const id = await createRun(bench.runs);
    const { runs, points } = bench;
    await Promise.all([bench.engine.close(), bench.engine.close()]);
    await bench.engine.close();
    const closed = refused("unavailable");
    await expect(runs.createRun(newRun(), { getOrCreate: false })).rejects.toEqual(closed);
    await expect(getRuns(runs, [id])).rejects.toEqual(closed);
    await expect(bench.journal.append([envelope(id, 1)], NOW_US)).rejects.toEqual(closed);
    if (bench.under.followRuns !== undefined) await expect(bench.under.followRuns()).rejects.toEqual(closed);
    await expect(points.readSeries({ ...EVERYTHING, selectors: [] })).rejects.toEqual(closed);
  });

  it("D5 continues all numbers after a restart", async () => {
    const id = await createRun(bench.runs);
    for (let seq = 1; seq <= 12; seq++) {
      const ack = await appendOne(
        bench.journal,
        envelope(id, seq, { series: [numbers("loss", [seq], seq)] }),
      );
      expect(ack).toMatchObject({ seq, duplicate: false });
      if (seq % 3 === 0) await bench.under.settle();
      if (seq % 2 === 0) await bench.reopen();
    }
    expect(await readNumbers(bench.points, id, "loss")).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    expect(await bench.runs.verifyRun(id)).toMatchObject({
      points: 12,
      problems: [],
      writers: [{ gaps: [] }],
    });
  });
}
