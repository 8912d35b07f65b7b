import { describe, expect, it } from "vitest";
import { RunMeans } from "./group-means.ts";
import { GroupStatistics } from "./group-statistics.ts";

const EVERYWHERE = { from: -Infinity, to: Infinity };

/** One bucket, one run per list of values. */
function statisticsOf(runs: readonly (readonly number[])[], quantiles: readonly number[] = []) {
  const means = new RunMeans({ start: 0, width: 100 }, 1);
  const statistics = new GroupStatistics(1, runs.length);
  for (const values of runs) {
    means.clear();
    means.add(
      Float64Array.from(values, (_, i) => i),
      Float64Array.from(values),
      EVERYWHERE,
      undefined,
    );
    statistics.add(means);
  }
  return statistics.finish(quantiles);
}

describe("group statistics", () => {
  it("G4 interpolates quantiles as numpy does", () => {
    const { quantiles, median } = statisticsOf([[4], [1], [3], [2]], [0, 0.25, 0.75, 0.9, 1]);
    expect(quantiles.map(([value]) => value)).toEqual([1, 1.75, 3.25, expect.closeTo(3.7, 12), 4]);
    expect([...median]).toEqual([2.5]);
    expect([...statisticsOf([[10], [40], [20]], [0.9]).quantiles[0]!]).toEqual([expect.closeTo(36, 12)]);
    expect([...statisticsOf([[7, 9]], [0.3]).quantiles[0]!]).toEqual([8]);
    expect([...statisticsOf([[0.9], [0.7]], [0.25]).quantiles[0]!]).toEqual([0.75]);
    expect([...statisticsOf([[-Infinity], [1]], [0.25]).quantiles[0]!]).toEqual([-Infinity]);
    const huge = statisticsOf([[-1.5e308], [1.5e308]], [0.25]);
    expect([...huge.quantiles[0]!]).toEqual([-0.75e308]);
  });

  it("G4 counts infinities as in IEEE", () => {
    const one = statisticsOf([[Infinity], [1], [2]], [0, 0.5, 0.75]);
    expect(one).toMatchObject({
      count: Float64Array.of(3),
      mean: Float64Array.of(Infinity),
      median: Float64Array.of(2),
      std: Float64Array.of(NaN),
      min: Float64Array.of(1),
      max: Float64Array.of(Infinity),
      quantiles: [Float64Array.of(1), Float64Array.of(2), Float64Array.of(Infinity)],
    });
    const both = statisticsOf([[Infinity], [-Infinity]]);
    expect(both).toMatchObject({ mean: Float64Array.of(NaN), median: Float64Array.of(NaN) });
    expect(both).toMatchObject({ min: Float64Array.of(-Infinity), max: Float64Array.of(Infinity) });
    expect(statisticsOf([[Infinity], [Infinity]], [0.3]).quantiles).toEqual([Float64Array.of(Infinity)]);
  });

  it("G4 a bucket in which the mean of a run is not a number only counts the run", () => {
    const spoilt = statisticsOf([[1], [Infinity, -Infinity], [2]], [0.1]);
    const nothing = Float64Array.of(NaN);
    expect(spoilt).toEqual({
      pointCount: 4,
      bucket: Float64Array.of(0),
      count: Float64Array.of(3),
      mean: nothing,
      median: nothing,
      std: nothing,
      stderr: nothing,
      min: nothing,
      max: nothing,
      quantiles: [nothing],
    });
  });

  it("G1 gives the same bits for any order of the runs", () => {
    const runs = Array.from({ length: 50 }, (_, i) => [Math.sin(i) * 10 ** (i % 7)]);
    const asGiven = statisticsOf(runs, [0.1]);
    expect(statisticsOf(runs.toReversed(), [0.1])).toEqual(asGiven);
  });
});
