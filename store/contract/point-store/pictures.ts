import { expect, it } from "vitest";
import {
  appendOne,
  createRun,
  envelope,
  EVERYTHING,
  inEveryForm,
  NOW_US,
  numbers,
  points,
  readOne,
  refused,
  useSharedStores,
  type OpenStores,
} from "../stores.ts";

export function picturesContract(open: OpenStores): void {
  const bench = useSharedStores(open);
  const log = (id: string, seq: number, key: string, values: number[], from = 0) =>
    appendOne(bench.journal, envelope(id, seq, { series: [numbers(key, values, from)] }));
  const wave = (count: number) => Array.from({ length: count }, (_, i) => ((i * 37) % 101) - 50);

  it("P1 returns whether a series is exact and how many points it covers", async () => {
    const id = await createRun(bench.runs);
    await log(id, 1, "loss", wave(1000));
    await inEveryForm(bench, async () => {
      const exact = await readOne(bench.points, { runId: id, key: "loss" });
      expect(exact).toMatchObject({ pointCount: 1000, data: { form: "exact" } });
      const drawn = await readOne(bench.points, { runId: id, key: "loss" }, { buckets: 100 });
      expect(drawn).toMatchObject({ pointCount: 1000, data: { form: "band" } });
      const part = await readOne(
        bench.points,
        { runId: id, key: "loss" },
        { buckets: 100, from: 100, to: 499 },
      );
      expect(part).toMatchObject({ pointCount: 400, data: { form: "band" } });
      const few = await readOne(
        bench.points,
        { runId: id, key: "loss" },
        { buckets: 100, from: 100, to: 150 },
      );
      expect(few).toMatchObject({ pointCount: 51, data: { form: "exact" } });
    });
  });

  it("P2 shows a spike however many points are around it", async () => {
    const id = await createRun(bench.runs);
    const values = Array.from({ length: 20_000 }, () => 1);
    values[12_345] = 1e9;
    values[6_789] = -1e9;
    values[3] = NaN;
    await log(id, 1, "loss", values);
    await inEveryForm(bench, async () => {
      const { data } = await readOne(bench.points, { runId: id, key: "loss" }, { buckets: 50 });
      if (data.form !== "band") throw new Error("the answer is exact");
      expect(Math.max(...data.max)).toBe(1e9);
      expect(Math.min(...data.min)).toBe(-1e9);
      expect(data.count.reduce((sum, count) => sum + count)).toBe(20_000);
      expect(data.nanCount.reduce((sum, count) => sum + count)).toBe(1);
    });
  });

  it("P3 returns a series with at most as many points as buckets exactly", async () => {
    const id = await createRun(bench.runs);
    await log(id, 1, "loss", wave(100));
    await inEveryForm(bench, async () => {
      const formOf = async (buckets: number, range = {}) =>
        (await readOne(bench.points, { runId: id, key: "loss" }, { buckets, ...range })).data.form;
      expect(await formOf(100)).toBe("exact");
      expect(await formOf(99)).toBe("band");
      expect(await formOf(1)).toBe("band");
      expect(await formOf(10, { from: 90 })).toBe("exact");
      expect(await formOf(10, { from: 89 })).toBe("band");
      const none = await readOne(bench.points, { runId: id, key: "loss" }, { buckets: 10, from: 1000 });
      expect(none).toMatchObject({ pointCount: 0, data: { form: "exact", points: { count: 0 } } });
    });
  });

  it("P3 returns at most as many points as buckets when few of them have a place on the axis", async () => {
    const id = await createRun(bench.runs);
    const bare = points({ kind: "number", data: Float64Array.from(wave(500)) });
    await appendOne(bench.journal, envelope(id, 1, { series: [{ key: "loss", labels: [], points: bare }] }));
    await log(id, 2, "loss", [1, 2, 3]);
    await inEveryForm(bench, async () => {
      const drawn = await readOne(bench.points, { runId: id, key: "loss" }, { buckets: 10 });
      expect(drawn).toMatchObject({
        pointCount: 3,
        data: { form: "band", count: Float64Array.of(1, 1, 1) },
      });
      const ranged = await readOne(bench.points, { runId: id, key: "loss" }, { buckets: 10, from: 0 });
      expect(ranged).toMatchObject({ pointCount: 3, data: { form: "exact" } });
    });
  });

  it("P4 draws all series of one answer on one grid", async () => {
    const id = await createRun(bench.runs);
    await log(id, 1, "short", wave(500), 1000);
    await log(id, 2, "long", wave(4000), 300);
    await log(id, 3, "tiny", [1, 2], 0);
    const selectors = ["short", "long", "tiny", "unknown"].map((key) => ({ runId: id, key, labels: [] }));
    await inEveryForm(bench, async () => {
      const { series, grid } = await bench.points.readSeries({ ...EVERYTHING, selectors, buckets: 40 });
      expect(series.map(({ key, data }) => [key, data.form])).toEqual([
        ["short", "band"],
        ["long", "band"],
        ["tiny", "exact"],
      ]);
      if (grid === undefined) throw new Error("there is no grid");
      expect(grid.start).toBeLessThanOrEqual(300);
      expect(grid.start + 40 * grid.width).toBeGreaterThan(4299);
      const exact = await bench.points.readSeries({
        ...EVERYTHING,
        selectors: selectors.slice(2),
        buckets: 40,
      });
      expect(exact.grid).toBeUndefined();
    });
  });

  it("P2 draws integers and bools as numbers, and returns texts unchanged", async () => {
    const id = await createRun(bench.runs);
    const steps = Float64Array.of(0, 1, 2, 3);
    const series = [
      {
        key: "i",
        labels: [],
        points: points({ kind: "integer", data: BigInt64Array.of(1n, -5n, 7n, 2n) }, { steps }),
      },
      {
        key: "b",
        labels: [],
        points: points({ kind: "bool", data: Uint8Array.of(0, 1, 1, 1) }, { steps: steps.slice() }),
      },
      {
        key: "t",
        labels: [],
        points: points({ kind: "text", data: ["a", "b", "c", "d"] }, { steps: steps.slice() }),
      },
    ] as const;
    await appendOne(bench.journal, envelope(id, 1, { series }));
    await inEveryForm(bench, async () => {
      const drawn = (key: string) => readOne(bench.points, { runId: id, key }, { buckets: 2 });
      expect((await drawn("i")).data).toMatchObject({
        min: Float64Array.of(-5, 2),
        max: Float64Array.of(1, 7),
      });
      expect((await drawn("b")).data).toMatchObject({
        mean: Float64Array.of(0.5, 1),
        last: Float64Array.of(1, 1),
      });
      expect((await drawn("t")).data).toMatchObject({ form: "exact", points: { count: 4 } });
    });
  });

  it("P5 refuses a read over the limit of points", async () => {
    const id = await createRun(bench.runs);
    await log(id, 1, "a", wave(600));
    await log(id, 2, "b", wave(600));
    await appendOne(bench.journal, envelope(id, 1, { writer: "v", series: [numbers("b", [1], 599)] }));
    const read = (keys: string[], more: object) =>
      bench.points.readSeries({
        ...EVERYTHING,
        selectors: keys.map((key) => ({ runId: id, key, labels: [] })),
        ...more,
      });
    const tooMany = refused("exhausted", "LIMIT_EXCEEDED");
    await inEveryForm(bench, async () => {
      await expect(read(["a"], { pointsMax: 599 })).rejects.toEqual(tooMany);
      await expect(read(["a", "b"], { pointsMax: 1199 })).rejects.toEqual(tooMany);
      await expect(read(["a", "b"], { pointsMax: 1200, includeReplaced: true })).rejects.toEqual(tooMany);
      await expect(read(["a", "b"], { pointsMax: 999, from: 100 })).rejects.toEqual(tooMany);
      await expect(read(["a", "b"], { pointsMax: 19, buckets: 10 })).rejects.toEqual(tooMany);
      expect((await read(["a", "b"], { pointsMax: 1200 })).series).toHaveLength(2);
      expect((await read(["a", "b"], { pointsMax: 1201, includeReplaced: true })).series).toHaveLength(2);
      expect((await read(["a", "b"], { pointsMax: 1000, from: 100 })).series).toHaveLength(2);
      expect((await read(["a", "a"], { pointsMax: 600 })).series).toHaveLength(1);
      expect((await read(["a", "b"], { pointsMax: 20, buckets: 10 })).series).toHaveLength(2);
      // A range that cuts a grid short returns fewer points than it has buckets.
      expect((await read(["a"], { pointsMax: 100, buckets: 100, from: 0, to: 99 })).series).toHaveLength(1);
    });
  });

  it("P2 draws on the axis of time", async () => {
    const id = await createRun(bench.runs);
    const count = 300;
    const times = Float64Array.from({ length: count }, (_, i) => NOW_US + ((i * 7) % count) * 1000);
    const data = Float64Array.from({ length: count }, (_, i) => (i * 7) % count);
    await appendOne(
      bench.journal,
      envelope(id, 1, {
        series: [{ key: "x", labels: [], points: points({ kind: "number", data }, { times }) }],
      }),
    );
    await inEveryForm(bench, async () => {
      const request = { axis: "time", buckets: 3 } as const;
      const { data: drawn } = await readOne(bench.points, { runId: id, key: "x" }, request);
      expect(drawn).toMatchObject({
        first: Float64Array.of(0, 100, 200),
        last: Float64Array.of(99, 199, 299),
      });
    });
  });
}
