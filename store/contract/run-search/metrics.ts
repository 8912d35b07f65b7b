import { afterEach, beforeEach, expect, it } from "vitest";
import { labelsText } from "#core/types/series.ts";
import type { MetricStat } from "#lang/query/ast.ts";
import { METRIC_STATS } from "#lang/query/fields.ts";
import { feedRow, type FedSeries, type OpenSearch, RunFeeder } from "../run-feeder.ts";

const rank = (number: number) => labelsText([["rank", String(number)]]);

export function metricsContract(open: OpenSearch): void {
  let feeder: RunFeeder;
  beforeEach(async () => {
    feeder = await RunFeeder.open(open);
  });
  afterEach(() => feeder.close());

  /** All statistics of one metric of one run. */
  async function statsOf(run: number, key: string): Promise<Partial<Record<MetricStat, number>>> {
    const metrics = METRIC_STATS.map((stat) => ({ key, stat }));
    const found = await feeder.ask(`id = "${feedRow(run).id}"`, { metrics });
    const stats = METRIC_STATS.map((stat, at) => [stat, found.metrics[at]![0]] as const);
    return Object.fromEntries(stats.filter(([, value]) => value !== undefined));
  }

  async function combined(...series: Omit<FedSeries, "run" | "key">[]) {
    feeder.tell({
      reset: true,
      runs: [feedRow(1)],
      metrics: series.map((one) => Object.assign({ run: 1, key: "m" }, one)),
    });
    return statsOf(1, "m");
  }

  it("are returned exactly, and undefined where there are none", async () => {
    const points = [5e-324, Number.MAX_VALUE, -0, 0.1];
    feeder.tell({ runs: [feedRow(1), feedRow(2)], metrics: [{ run: 1, key: "m", points }] });
    const found = await feeder.ask("order by id", {
      metrics: METRIC_STATS.map((stat) => ({ key: "m", stat })),
    });
    const [last, first, min, max, mean, count] = found.metrics;
    expect(last).toEqual([0.1, undefined]);
    expect(first).toEqual([5e-324, undefined]);
    expect(min).toEqual([-0, undefined]);
    expect(max).toEqual([Number.MAX_VALUE, undefined]);
    expect(mean).toEqual([Number.MAX_VALUE / 4, undefined]);
    expect(count).toEqual([4, undefined]);
    expect((await feeder.ask("", { metrics: [{ key: "none", stat: "last" }] })).metrics).toEqual([
      [undefined, undefined],
    ]);
  });

  it("Q6 combines tens of thousands of label sets of one batch, and a later one", async () => {
    const count = 50_000;
    const series = Array.from({ length: count }, (_, i) => ({ label: rank(i), points: [i] }));
    expect(await combined(...series)).toMatchObject({ min: 0, max: count - 1, count });
    feeder.tell({ metrics: [{ run: 1, key: "m", label: rank(count), points: [-1] }] });
    expect(await statsOf(1, "m")).toMatchObject({ min: -1, max: count - 1, count: count + 1 });
  });

  it("replace the earlier values of their series only", async () => {
    feeder.tell({
      runs: [feedRow(1), feedRow(2)],
      metrics: [
        { run: 1, key: "a", points: [1] },
        { run: 1, key: "b", points: [2] },
        { run: 2, key: "a", points: [3] },
      ],
    });
    feeder.tell({ metrics: [{ run: 1, key: "a", points: [1, 9] }] });
    expect(await statsOf(1, "a")).toEqual({ last: 9, first: 1, min: 1, max: 9, mean: 5, count: 2 });
    expect(await statsOf(1, "b")).toMatchObject({ last: 2 });
    expect(await statsOf(2, "a")).toMatchObject({ last: 3 });
  });

  it("have no min, max and mean where there was only NaN", async () => {
    expect(await combined({ points: [Number.NaN, Number.NaN] })).toEqual({
      last: Number.NaN,
      first: Number.NaN,
      count: 2,
    });
    expect(
      await feeder.find("metrics.m.min is null and metrics.m is not null and metrics.m.count = 2"),
    ).toEqual([1]);
    feeder.tell({ metrics: [{ run: 1, key: "m", points: [Number.NaN, 4] }] });
    expect(await feeder.find("metrics.m.min = 4 and metrics.m.mean = 4")).toEqual([1]);
  });

  it("Q6 are those of the series without labels where there is one", async () => {
    const plain = { points: [1, 2] };
    const labelled = { label: rank(0), points: [50, 60, 70] };
    const expected = { last: 2, first: 1, min: 1, max: 2, mean: 1.5, count: 2 };
    expect(await combined(plain, labelled)).toEqual(expected);
    expect(await combined(labelled, plain)).toEqual(expected);
    feeder.tell({ metrics: [{ run: 1, key: "m", label: rank(1), points: [99] }] });
    expect(await statsOf(1, "m")).toEqual(expected);
    feeder.tell({ metrics: [{ run: 1, key: "m", points: [1, 2, 3] }] });
    expect(await statsOf(1, "m")).toMatchObject({ last: 3, count: 3 });
  });

  it("Q6 are combined where all series have labels", async () => {
    const stats = await combined(
      { label: rank(0), points: [4, 5, 6], lastStep: 30 },
      { label: rank(1), points: [1, 9], lastStep: 31 },
      { label: rank(2), points: [7], lastStep: 5 },
    );
    expect(stats).toEqual({ last: 9, first: 1, min: 1, max: 9, mean: 32 / 6, count: 6 });
  });

  it("use first and last of the series that got farthest, at a tie from the first by label", async () => {
    const lead = (...series: Omit<FedSeries, "run" | "key">[]) =>
      combined(...series).then(({ first, last }) => [first, last]);
    expect(
      await lead(
        { label: rank(2), points: [3, 4], lastStep: 7 },
        { label: rank(1), points: [1, 2], lastStep: 7 },
      ),
    ).toEqual([1, 2]);
    expect(
      await lead(
        { label: rank(0), points: [1, 2], lastStep: Number.NaN },
        { label: rank(1), points: [3, 4], lastStep: 0 },
      ),
    ).toEqual([3, 4]);
    feeder.tell({ metrics: [{ run: 1, key: "m", label: rank(0), points: [1, 8], lastStep: 1 }] });
    expect(await statsOf(1, "m")).toMatchObject({ first: 1, last: 8, count: 4 });
  });

  it("ignore NaN when they are combined", async () => {
    const nan = [Number.NaN, Number.NaN];
    expect(
      await combined({ label: rank(0), points: nan }, { label: rank(1), points: [3, 5], lastStep: 0 }),
    ).toEqual({
      last: Number.NaN,
      first: Number.NaN,
      min: 3,
      max: 5,
      mean: 4,
      count: 4,
    });
    expect(await combined({ label: rank(0), points: nan }, { label: rank(1), points: nan })).toEqual({
      last: Number.NaN,
      first: Number.NaN,
      count: 4,
    });
  });

  it("are dropped with a series without points", async () => {
    await combined({ points: [1] }, { label: rank(0), points: [5] }, { label: rank(1), points: [7] });
    feeder.tell({ metrics: [{ run: 1, key: "m", points: [] }] });
    expect(await statsOf(1, "m")).toMatchObject({ min: 5, max: 7, count: 2 });
    feeder.tell({ metrics: [{ run: 1, key: "m", label: rank(1), points: [] }] });
    expect(await statsOf(1, "m")).toMatchObject({ min: 5, max: 5, count: 1 });
    feeder.tell({ metrics: [{ run: 1, key: "m", label: rank(0), points: [] }] });
    expect(await feeder.find("metrics.m is null")).toEqual([1]);
  });

  it("may have 12,000 names in one run", async () => {
    const names = Array.from({ length: 12_000 }, (_, at) => `layer/${at}/grad_norm`);
    feeder.tell({
      runs: Array.from({ length: 500 }, (_, at) => feedRow(at + 1)),
      metrics: [
        ...names.map((key, at) => ({ run: 250, key, points: [at, at + 1] })),
        { run: 3, key: names[7]!, points: [100] },
      ],
    });
    const metrics = [names[0]!, names[7]!, names.at(-1)!].map((key) => ({ key, stat: "max" as const }));
    const found = await feeder.ask(
      'metrics."layer/7/grad_norm".first >= 7 order by metrics."layer/7/grad_norm".mean',
      { metrics },
    );
    expect(found.ids).toEqual([feedRow(250).id, feedRow(3).id]);
    expect(found.metrics).toEqual([
      [1, undefined],
      [8, 100],
      [12_000, undefined],
    ]);
    feeder.tell({ purged: [250] });
    expect(await feeder.find('metrics."layer/7/grad_norm" is not null')).toEqual([3]);
    expect(await feeder.find('metrics."layer/8/grad_norm" is not null')).toEqual([]);
  });
}
