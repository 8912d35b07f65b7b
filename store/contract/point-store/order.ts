import { expect, it } from "vitest";
import type { Summary } from "#core/types/series.ts";
import {
  appendOne,
  createRun,
  envelope,
  inEveryForm,
  NOW_US,
  numbers,
  points,
  readNumbers,
  readOne,
  useSharedStores,
  type OpenStores,
  selectOf,
} from "../stores.ts";

export function orderContract(open: OpenStores): void {
  const bench = useSharedStores(open);

  const seqs = new Map<string, number>();
  /** Appends values at the steps as the writer's next envelope. */
  async function log(id: string, writer: string, steps: number[], values: number[] = steps): Promise<void> {
    const seq = (seqs.get(id + writer) ?? 0) + 1;
    seqs.set(id + writer, seq);
    const data = Float64Array.from(values);
    const series = [
      {
        key: "loss",
        labels: [],
        points: points({ kind: "number", data }, { steps: Float64Array.from(steps) }),
      },
    ];
    await appendOne(bench.journal, envelope(id, seq, { writer, series }));
  }
  async function summaryOf(id: string): Promise<Summary> {
    const { series } = await selectOf(bench.points, id, { limit: 9 });
    return series[0]!.summary;
  }

  it("O1 keeps late, repeated and backward steps of one writer, ordered by step, then by arrival", async () => {
    const id = await createRun(bench.runs);
    await log(id, "w", [5, 3, 3], [1, 2, 3]);
    await log(id, "w", [3, 0], [4, 5]);
    await log(id, "w", [-2, 5], [6, 7]);
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, id, "loss")).toEqual([6, 5, 2, 3, 4, 1, 7]);
      expect(await readNumbers(bench.points, id, "loss", { from: 3, to: 5 })).toEqual([2, 3, 4, 1, 7]);
      expect(await summaryOf(id)).toMatchObject({
        count: 7,
        replacedCount: 0,
        first: { value: 6 },
        last: { value: 7 },
      });
    });
  });

  it("O1 orders by time where that is the axis", async () => {
    const id = await createRun(bench.runs);
    const data = Float64Array.of(1, 2, 3, 4);
    const columns = {
      steps: Float64Array.of(0, 1, 2, 3),
      times: Float64Array.of(9, 7, 9, 8).map((t) => NOW_US + t),
    };
    await appendOne(
      bench.journal,
      envelope(id, 1, {
        series: [{ key: "x", labels: [], points: points({ kind: "number", data }, columns) }],
      }),
    );
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, id, "x", { axis: "time" })).toEqual([2, 4, 1, 3]);
      expect(await readNumbers(bench.points, id, "x")).toEqual([1, 2, 3, 4]);
    });
  });

  it("O2 replaces earlier points at or beyond the lowest step of a new writer", async () => {
    const id = await createRun(bench.runs);
    await log(id, "a", [1, 2, 3, 4, 5, 6]);
    await log(id, "b", [4, 5, 6, 7], [40, 50, 60, 70]);
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, id, "loss")).toEqual([1, 2, 3, 40, 50, 60, 70]);
      const all = await readOne(bench.points, { runId: id, key: "loss" }, { includeReplaced: true });
      expect(all.data.form === "exact" && [...all.data.points.values.data]).toEqual([
        1, 2, 3, 4, 40, 5, 50, 6, 60, 70,
      ]);
      expect(all.data.form === "exact" && all.data.replaced).toEqual(
        Uint8Array.of(0, 0, 0, 1, 0, 1, 0, 1, 0, 0),
      );
      expect(all.pointCount).toBe(10);
      expect(await summaryOf(id)).toMatchObject({
        count: 7,
        replacedCount: 3,
        first: { step: 1, value: 1 },
        last: { step: 7, value: 70 },
        max: { value: 70 },
        sum: 226,
      });
    });
  });

  it("O5 reads only the points that a restart replaced, exact, in a range and as a band", async () => {
    const id = await createRun(bench.runs);
    await log(id, "a", [1, 2, 3, 4, 5, 6]);
    const alone = { runId: id, key: "loss" };
    const none = await readOne(bench.points, alone, { onlyReplaced: true });
    expect(none).toMatchObject({ pointCount: 0, data: { form: "exact" } });
    await log(id, "b", [4, 5, 6, 7], [40, 50, 60, 70]);
    await log(id, "c", [6], [600]);
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, id, "loss", { onlyReplaced: true })).toEqual([4, 5, 6, 60, 70]);
      const part = { onlyReplaced: true, from: 5, to: 6 };
      expect(await readNumbers(bench.points, id, "loss", part)).toEqual([5, 6, 60]);
      const { data, pointCount } = await readOne(bench.points, alone, { onlyReplaced: true, buckets: 2 });
      expect(pointCount).toBe(5);
      expect(data).toMatchObject({
        form: "band",
        count: Float64Array.of(1, 4),
        min: Float64Array.of(4, 5),
        max: Float64Array.of(4, 70),
      });
    });
  });

  it("O2 uses the lowest step a new writer ever logs, also when it comes late", async () => {
    const id = await createRun(bench.runs);
    await log(id, "a", [1, 2, 3, 4, 5, 6]);
    await log(id, "b", [6], [60]);
    expect(await readNumbers(bench.points, id, "loss")).toEqual([1, 2, 3, 4, 5, 60]);
    await bench.under.settle();
    await log(id, "b", [3], [30]);
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, id, "loss")).toEqual([1, 2, 30, 60]);
      expect(await summaryOf(id)).toMatchObject({ count: 4, replacedCount: 4, sum: 93 });
    });
  });

  it("O2 replaces through many restarts, and unnumbered envelopes count as one writer", async () => {
    const id = await createRun(bench.runs);
    for (let restart = 0; restart < 6; restart++) {
      const from = 10 - restart;
      const steps = Array.from({ length: 4 }, (_, i) => from + i);
      await log(
        id,
        `w${restart}`,
        steps,
        steps.map((step) => 100 * restart + step),
      );
      if (restart % 2 === 1) await bench.under.settle();
    }
    const unnumbered = (values: number[], from: number) =>
      appendOne(bench.journal, envelope(id, 0, { series: [numbers("loss", values, from)] }));
    await unnumbered([1], 6);
    await unnumbered([2], 5);
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, id, "loss")).toEqual([2, 1]);
      expect(await summaryOf(id)).toMatchObject({ count: 2, replacedCount: 24, sum: 3 });
    });
  });

  it("O2 never replaces points without a step, and a writer without steps replaces nothing", async () => {
    const id = await createRun(bench.runs);
    const bare = (writer: string, values: number[]) =>
      appendOne(
        bench.journal,
        envelope(id, 1, {
          writer,
          series: [
            { key: "loss", labels: [], points: points({ kind: "number", data: Float64Array.from(values) }) },
          ],
        }),
      );
    await bare("a", [1, 2]);
    await log(id, "b", [7, 8]);
    await bare("c", [3]);
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, id, "loss")).toEqual([7, 8, 1, 2, 3]);
      expect(await summaryOf(id)).toMatchObject({ count: 5, replacedCount: 0 });
    });
    await log(id, "d", [0], [9]);
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, id, "loss")).toEqual([9, 1, 2, 3]);
    });
  });

  it("O2 replaces nothing when a new writer continues where the old one stopped", async () => {
    const id = await createRun(bench.runs);
    await log(id, "a", [1, 2, 3]);
    await log(id, "b", [4, 5]);
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, id, "loss")).toEqual([1, 2, 3, 4, 5]);
      expect(await summaryOf(id)).toMatchObject({ count: 5, replacedCount: 0 });
    });
  });

  it("O2 hides replaced points from bands too", async () => {
    const id = await createRun(bench.runs);
    await log(id, "a", [0, 1, 2, 3, 4, 5, 6, 7], [0, 0, 0, 999, -999, 0, 0, 0]);
    await log(id, "b", [3, 4, 5, 6, 7], [1, 1, 1, 1, 1]);
    await inEveryForm(bench, async () => {
      const drawn = await readOne(bench.points, { runId: id, key: "loss" }, { buckets: 2 });
      expect(drawn.data.form === "band" && [...drawn.data.max]).toEqual([1, 1]);
      expect(drawn.pointCount).toBe(8);
      const all = await readOne(
        bench.points,
        { runId: id, key: "loss" },
        { buckets: 2, includeReplaced: true },
      );
      expect(all.data.form === "band" && [...all.data.max]).toEqual([999, 1]);
      expect(all.data.form === "band" && [...all.data.min]).toEqual([0, -999]);
      expect(all.pointCount).toBe(13);
    });
  });

  it("O3 does not replace points of an older writer that arrive after a newer one began", async () => {
    const id = await createRun(bench.runs);
    await log(id, "a", [1, 2, 3, 4]);
    await log(id, "b", [3], [30]);
    await log(id, "a", [5, 2], [5, 20]);
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, id, "loss")).toEqual([1, 2, 20, 30, 5]);
    });
    // The old writer goes back too: it replaces nothing, because it did not begin after another one.
    await log(id, "a", [0], [7]);
    expect(await readNumbers(bench.points, id, "loss")).toEqual([7, 1, 2, 20, 30, 5]);
  });

  it("O4 answers the same while a fold is under way", async () => {
    const id = await createRun(bench.runs);
    const expected = new Map<number, number>();
    for (let seq = 1; seq <= 30; seq++) {
      const steps = Array.from({ length: 300 }, (_, i) => (seq * 7919 + i * 31) % 100_003);
      for (const step of steps) expected.set(step, step / 2);
      await log(
        id,
        "w",
        steps,
        steps.map((step) => step / 2),
      );
    }
    const values = [...expected].sort(([a], [b]) => a - b).map(([, value]) => value);
    const settled = bench.under.settle();
    const reads: Promise<number[]>[] = [];
    for (let i = 0; i < 40; i++) reads.push(readNumbers(bench.points, id, "loss"));
    for (const read of reads) expect(await read).toEqual(values);
    await settled;
    expect(await readNumbers(bench.points, id, "loss")).toEqual(values);
  });
}
