import { expect, it } from "vitest";
import {
  appendOne,
  createRun,
  envelope,
  getRun,
  inEveryForm,
  NOW_US,
  numbers,
  points,
  useStores,
  type OpenStores,
} from "../stores.ts";

export function verifyContract(open: OpenStores): void {
  const bench = useStores(open);

  it("E9 returns the number of envelopes per writer, by name, and counts the points", async () => {
    const id = await createRun(bench.runs);
    const other = await createRun(bench.runs);
    const writers = ["rank-10", "rank-2", "Ω", "a"];
    for (const [at, writer] of writers.entries()) {
      for (let seq = 1; seq <= at + 1; seq++) {
        const series = [numbers(`m${at}`, [seq, NaN], 2 * seq)];
        await appendOne(bench.journal, envelope(id, seq, { writer, series }), NOW_US + seq);
      }
    }
    await appendOne(bench.journal, envelope(id, 2, { writer: "rank-10" }), NOW_US + 50);
    await appendOne(bench.journal, envelope(other, 1, { series: [numbers("x", [1])] }));
    await inEveryForm(bench, async () => {
      expect(await bench.runs.verifyRun(id)).toEqual({
        writers: [
          ["a", 4, 4],
          ["rank-10", 2, 50],
          ["rank-2", 2, 2],
          ["Ω", 3, 3],
        ].map(([writer, envelopes, lastUs]) => ({
          writer,
          envelopes,
          lastSeq: envelopes,
          lost: [],
          gaps: [],
          firstReceivedUs: NOW_US + 1,
          lastReceivedUs: NOW_US + Number(lastUs),
        })),
        totals: { envelopes: 11, lastSeq: 11, lost: 0, gaps: 0, problems: 0 },
        points: 20,
        unnumberedEnvelopes: 0,
        problems: [],
        truncated: false,
      });
    });
  });

  it("E9 V3 reads steps and times at both ends of the exact range", async () => {
    const id = await createRun(bench.runs);
    for (const [seq, end] of [-(2 ** 53), 2 ** 53].entries()) {
      const at = Float64Array.of(end);
      const one = { count: 1, steps: at, times: at.slice(), nanos: undefined };
      const values = { kind: "number", data: Float64Array.of(1) } as const;
      const series = [{ key: "m", labels: [], points: { ...one, values } }];
      await appendOne(bench.journal, envelope(id, seq + 1, { series }));
    }
    await inEveryForm(bench, async () => {
      expect(await bench.runs.verifyRun(id)).toMatchObject({ points: 2, problems: [] });
    });
  });

  it("E9 stamps each envelope with its own time, also when several come at once", async () => {
    const id = await createRun(bench.runs);
    const [first, second] = await Promise.all([
      bench.journal.append([envelope(id, 1)], NOW_US + 5),
      bench.journal.append([envelope(id, 2, { change: { name: "later" } })], NOW_US + 9),
    ]);
    expect([...first, ...second].every(({ ok }) => ok)).toBe(true);
    const { writers } = await bench.runs.verifyRun(id);
    expect(writers).toMatchObject([{ firstReceivedUs: NOW_US + 5, lastReceivedUs: NOW_US + 9 }]);
    expect(await getRun(bench.runs, id)).toMatchObject({ updatedUs: NOW_US + 9 });
  });

  it("E9 counts envelopes that carry no point, and those of a run without any", async () => {
    const id = await createRun(bench.runs);
    expect(await bench.runs.verifyRun(id)).toEqual({
      writers: [],
      totals: { envelopes: 0, lastSeq: 0, lost: 0, gaps: 0, problems: 0 },
      points: 0,
      unnumberedEnvelopes: 0,
      problems: [],
      truncated: false,
    });
    for (const seq of [1, 2, 3]) await appendOne(bench.journal, envelope(id, seq));
    const empty = points({ kind: "number", data: new Float64Array() });
    await appendOne(bench.journal, envelope(id, 4, { series: [{ key: "none", labels: [], points: empty }] }));
    await inEveryForm(bench, async () => {
      expect(await bench.runs.verifyRun(id)).toMatchObject({
        writers: [{ envelopes: 4, lastSeq: 4, gaps: [] }],
        points: 0,
        problems: [],
      });
    });
  });

  it("E9 counts replaced points too, because they are kept", async () => {
    const id = await createRun(bench.runs);
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1, 2, 3, 4])] }));
    await appendOne(bench.journal, envelope(id, 1, { writer: "v", series: [numbers("loss", [9], 2)] }));
    await inEveryForm(bench, async () => {
      expect(await bench.runs.verifyRun(id)).toMatchObject({ points: 5, problems: [] });
    });
  });

  it("E9 lists as many writers and ranges as fit, and counts all of them", async () => {
    const id = await createRun(bench.runs);
    for (let i = 0; i < 6; i++) {
      const writer = `w${i}${"x".repeat(200)}`;
      const lost = [{ first: 1, last: 9 }];
      await appendOne(bench.journal, envelope(id, 10, { writer, lost, series: [numbers("a", [1], i)] }));
      const again = [{ first: 11, last: 11 }];
      await appendOne(bench.journal, envelope(id, 12, { writer, lost: again }));
    }
    await inEveryForm(bench, async () => {
      const all = await bench.runs.verifyRun(id);
      expect(all).toMatchObject({ truncated: false });
      expect(all.writers).toHaveLength(6);
      const some = await bench.runs.verifyRun(id, 3 * 320);
      expect(some).toMatchObject({ truncated: true, totals: all.totals, points: 6, problems: [] });
      expect(some.totals).toMatchObject({ envelopes: 12, lastSeq: 72, lost: 60, gaps: 0 });
      expect(some.writers).toEqual(all.writers.slice(0, 3));
      const fewer = await bench.runs.verifyRun(id, 300);
      expect(fewer.writers).toMatchObject([{ lost: [{ first: 1, last: 9 }] }]);
    });
  });

  it("B3 finds nothing wrong with a healthy store and counts its content", async ({ skip }) => {
    const check = () => bench.engine.integrity?.checkIntegrity() ?? skip("the engine has no integrity");
    expect(await check()).toEqual({ points: 0, runs: 0, problems: [] });
    for (let i = 0; i < 3; i++) {
      const id = await createRun(bench.runs);
      await appendOne(
        bench.journal,
        envelope(id, 1, { series: [numbers("loss", [1, 2]), numbers("acc", [3])] }),
      );
    }
    await inEveryForm(bench, async () => {
      expect(await check()).toEqual({ points: 9, runs: 3, problems: [] });
      expect(await bench.engine.info()).toMatchObject({ points: 9, runs: 3, series: 6 });
    });
  });
}
