import { expect, it } from "vitest";
import type { ReadGroups } from "#core/ports/point-store.ts";
import {
  appendOne,
  createRun,
  envelope,
  inEveryForm,
  numbers,
  points,
  refused,
  useSharedStores,
  type OpenStores,
} from "../stores.ts";

export const ALL_GROUPS: Omit<ReadGroups, "groups"> = {
  startsUs: undefined,
  key: "x",
  labels: undefined,
  axis: "step",
  from: undefined,
  to: undefined,
  buckets: 10,
  quantiles: [],
  meansMax: 10_000_000,
  numbersMax: 10_000_000,
  seriesMax: 250_000,
};

export function groupsContract(open: OpenStores): void {
  const bench = useSharedStores(open);
  const log = async (values: readonly number[], from = 0, key = "x") => {
    const id = await createRun(bench.runs);
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers(key, values, from)] }));
    return id;
  };
  const read = (groups: string[][], request: Partial<ReadGroups> = {}) =>
    bench.points.readGroups({ ...ALL_GROUPS, groups, ...request });

  it("G1 weighs runs, not points, and leaves out what a restart replaced", async () => {
    const long = await log([1, 1, 1, 1, 1, 1]);
    const short = await log([4], 2);
    const rewound = await log([100, 100, 7, 100]);
    const again = { writer: "v", series: [numbers("x", [10], 1)] };
    await appendOne(bench.journal, envelope(rewound, 1, again));
    await inEveryForm(bench, async () => {
      const { groups, grid } = await read([[long, short]], { buckets: 2, quantiles: [0.25] });
      expect(grid).toEqual({ start: 0, width: 3 });
      expect(groups[0]).toEqual({
        pointCount: 7,
        bucket: Float64Array.of(0, 1),
        count: Float64Array.of(2, 1),
        mean: Float64Array.of(2.5, 1),
        median: Float64Array.of(2.5, 1),
        std: Float64Array.of(Math.sqrt(4.5), NaN),
        stderr: Float64Array.of(Math.sqrt(4.5) / Math.sqrt(2), NaN),
        min: Float64Array.of(1, 1),
        max: Float64Array.of(4, 1),
        quantiles: [Float64Array.of(1.75, 1)],
      });
      const {
        groups: [current],
        grid: shorter,
      } = await read([[rewound]]);
      expect(current).toMatchObject({ pointCount: 2, mean: Float64Array.of(100, 10) });
      expect(shorter).toEqual({ start: 0, width: 1 });
    });
  });

  it("G2 uses one grid over the requested range, or over all points", async () => {
    const [a, b] = [await log([1, 2, 3], 100), await log([4, 5, 6, 7], 110)];
    await inEveryForm(bench, async () => {
      expect((await read([[a], [b]], { buckets: 7 })).grid).toEqual({ start: 100, width: 2 });
      expect((await read([[a]], { buckets: 7 })).grid).toEqual({ start: 100, width: 1 });
      const cut = await read([[a], [b]], { from: 101, to: 120, buckets: 10 });
      expect(cut.grid).toEqual({ start: 101, width: 2 });
      expect(cut.groups.map(({ bucket }) => [...bucket])).toEqual([[0], [4, 5, 6]]);
      expect(cut.groups.map(({ pointCount }) => pointCount)).toEqual([2, 4]);
      const none = await read([[a], []], { from: 500, to: 509 });
      expect(none.grid).toEqual({ start: 500, width: 1 });
      expect(none.groups).toMatchObject([
        { pointCount: 0, bucket: new Float64Array() },
        { pointCount: 0, bucket: new Float64Array() },
      ]);
    });
  });

  it("G2 has no grid without points", async () => {
    const bare = await createRun(bench.runs);
    const unstepped = points({ kind: "number", data: Float64Array.of(1, 2) });
    const series = [{ key: "x", labels: [], points: unstepped }];
    await appendOne(bench.journal, envelope(bare, 1, { series }));
    const other = await log([1, 2], 0, "y");
    await inEveryForm(bench, async () => {
      const { groups, grid } = await read([[bare, other, "0".repeat(32)], []], { quantiles: [0.5] });
      expect(grid).toBeUndefined();
      expect(groups).toHaveLength(2);
      const empty = new Float64Array();
      expect(groups[0]).toMatchObject({ pointCount: 0, bucket: empty, quantiles: [empty] });
      expect((await read([[bare]], { from: 0 })).grid).toBeUndefined();
    });
  });

  it("G4 shows where a run has only NaN, and ignores it in statistics", async () => {
    const [a, b] = [await log([1, NaN, NaN]), await log([3, NaN, 5])];
    await inEveryForm(bench, async () => {
      const { groups } = await read([[a, b]]);
      expect(groups[0]).toMatchObject({
        pointCount: 6,
        bucket: Float64Array.of(0, 1, 2),
        count: Float64Array.of(2, 0, 1),
        mean: Float64Array.of(2, NaN, 5),
        median: Float64Array.of(2, NaN, 5),
        min: Float64Array.of(1, NaN, 5),
      });
    });
  });

  it("G4 refuses texts", async () => {
    const a = await log([1]);
    const b = await createRun(bench.runs);
    const texts = points({ kind: "text", data: ["a"] }, { steps: Float64Array.of(1) });
    await appendOne(bench.journal, envelope(b, 1, { series: [{ key: "x", labels: [], points: texts }] }));
    await expect(read([[a, b]])).rejects.toEqual(refused("invalid", "KIND_MISMATCH"));
  });

  it("G5 refuses more numbers than the limit, before it reads", async () => {
    const runs = [await log([1, 2, 3]), await log([4, 5, 6, 7])];
    const tooMany = refused("exhausted", "LIMIT_EXCEEDED", { facts: { limit: "35" } });
    // Four steps are four buckets, however many are asked for: eight columns of four.
    expect((await read([runs], { numbersMax: 32, buckets: 500 })).groups).toHaveLength(1);
    await expect(read([runs], { numbersMax: 35, quantiles: [0.5] })).rejects.toEqual(tooMany);
    await expect(read([runs, runs], { numbersMax: 35 })).rejects.toEqual(tooMany);
    const many = await Promise.all(Array.from({ length: 9 }, () => log([1, 2, 3, 4])));
    await expect(read([many], { meansMax: 35 })).rejects.toEqual(tooMany);
    expect((await read([many], { meansMax: 36, numbersMax: 32 })).groups).toHaveLength(1);
  });
}
