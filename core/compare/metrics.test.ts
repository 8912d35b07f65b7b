import { describe, expect, it } from "vitest";
import type { Direction, KeyDescription } from "../types/namespace.ts";
import type { Labels, Sample, SeriesInfo } from "../types/series.ts";
import { MetricRows } from "./metric-rows.ts";
import { compareMetrics, deltaOf } from "./metrics.ts";

const sample = (value: number, step: number): Sample => ({ value, step, timeUs: undefined });

function series(key: string, min: number, last: number, max: number, labels: Labels = []): SeriesInfo {
  const summary = {
    count: 4,
    nanCount: 1,
    replacedCount: 0,
    first: sample(0, 0),
    last: sample(last, 9),
    min: sample(min, 5),
    max: sample(max, 1),
    sum: 21,
    sumSquares: 0,
  };
  return { key, labels, kind: "number", summary };
}

const described = (key: string, direction: Direction, unit = ""): [string, KeyDescription] => [
  key,
  { namespace: "", key, unit, direction, description: "", picture: undefined },
];
const meaning = {
  described: new Map([described("loss", "minimize", "nats"), described("acc", "maximize")]),
  objective: { metric: "val/wer", direction: "minimize" as const, namespace: "" },
};

describe("metrics side by side", () => {
  it("M8 take the statistic of the direction, and the last value where there is none", () => {
    const one = [series("loss", 1, 2, 3), series("acc", 1, 2, 3), series("lr", 1, 2, 3)];
    const rows = compareMetrics([one], meaning, ["best"]);
    expect(
      rows.map(({ key, stat, values: [value], unit }) => [key, stat, value!.value, value!.step, unit]),
    ).toEqual([
      ["loss", "min", 1, 5, "nats"],
      ["acc", "max", 3, 1, ""],
      ["lr", "last", 2, 9, ""],
    ]);
    const means = compareMetrics([one], meaning, ["mean"]).map(({ values }) => values[0]);
    expect(means).toEqual(
      Array.from({ length: 3 }, () => ({ value: 7, step: undefined, best: false, delta: undefined })),
    );
    expect(
      compareMetrics([one], meaning, ["best", "min", "last"]).map(({ key, stat }) => `${key} ${stat}`),
    ).toEqual(["loss min", "loss last", "acc max", "acc min", "acc last", "lr last", "lr min"]);
  });

  it("M8 have the objective first and system metrics last, label sets separate", () => {
    const one = ["system/gpu", "acc", "val/wer"].map((key) => series(key, 1, 1, 1));
    const two = ["10", "2"].map((rank) => series("acc", 1, 1, 1, [["rank", rank]]));
    const rows = new MetricRows(meaning, ["last"], false);
    rows.add([one, two]);
    const names = rows.sorted().map(({ key, labels }) => key + labels.join());
    expect(names).toEqual(["val/wer", "acc", "accrank,2", "accrank,10", "system/gpu"]);
  });

  it("M8 say better or worse than the baseline by the direction, and which is best", () => {
    const lists = [[series("loss", 2, 2, 2)], [series("loss", 1, 1, 1)], [series("loss", 3, 3, 3)], []];
    const [row] = compareMetrics(lists, meaning, ["best"]);
    expect(
      row!.values.map((value) => value && [value.delta?.verdict, value.delta?.share, value.best]),
    ).toEqual([[undefined, undefined, false], ["better", -0.5, true], ["worse", 0.5, false], undefined]);
    expect(row!.differs).toBe(true);
    expect(deltaOf(2, 3, "maximize")?.verdict).toBe("better");
    expect(deltaOf(-2, -3, "maximize")).toEqual({ difference: -1, share: -0.5, verdict: "worse" });
    expect(deltaOf(2, 3, undefined)?.verdict).toBeUndefined();
    expect(deltaOf(2, 2, "minimize")?.verdict).toBe("same");
    expect(deltaOf(0, 3, "minimize")?.share).toBeUndefined();
    expect(deltaOf(NaN, 3, "minimize")).toBeUndefined();
    expect(deltaOf(Infinity, Infinity, "minimize")).toBeUndefined();
  });

  it("M8 have no best where all are equal, where no direction is known, or where there is no number", () => {
    const best = (values: number[], key = "loss") =>
      compareMetrics(
        values.map((value) => [series(key, value, value, value)]),
        meaning,
        ["last"],
      )[0]!.values.map((value) => value!.best);
    expect(best([1, 1])).toEqual([false, false]);
    expect(best([1, 2], "lr")).toEqual([false, false]);
    expect(best([NaN, 2, 3])).toEqual([false, true, false]);
    expect(best([NaN, NaN])).toEqual([false, false]);
  });

  it("M8 treat bools and integers as numbers, and skip texts", () => {
    const text: SeriesInfo = { ...series("said", 0, 0, 0), kind: "text" };
    const bool: SeriesInfo = { ...series("ok", 0, 1, 1), kind: "bool" };
    const { summary } = series("count", 0, 0, 0);
    const count: SeriesInfo = {
      key: "count",
      labels: [],
      kind: "integer",
      summary: { ...summary, last: { ...sample(42, 1), integer: 42n }, min: undefined },
    };
    const rows = compareMetrics([[text, bool, count]], meaning, ["last", "min"]);
    expect(rows.map(({ key, stat, values }) => [key, stat, values[0]?.value])).toEqual([
      ["ok", "last", 1],
      ["ok", "min", 0],
      ["count", "last", 42],
      ["count", "min", undefined],
    ]);
  });
});
