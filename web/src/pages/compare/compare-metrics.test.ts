import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  KeyDescriptionSchema,
  SeriesInfoSchema,
  SeriesKind,
  type SeriesInfo,
} from "#proto/cairn/v1/metric_pb.ts";
import { Direction, ObjectiveSchema } from "#proto/cairn/v1/namespace_pb.ts";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { compareCsv } from "./compare-csv.ts";
import { compareMetrics, deltaOf } from "./compare-metrics.ts";
import { compareValues } from "./compare-row.ts";

function series(
  key: string,
  min: number,
  last: number,
  max: number,
  labels: Record<string, string> = {},
): SeriesInfo {
  const kind = SeriesKind.NUMBER;
  const summary = {
    last: { value: last, step: 9n },
    min: { value: min, step: 5n },
    max: { value: max, step: 1n },
    mean: 7,
  };
  return create(SeriesInfoSchema, { key, labels, kind, summary });
}

const meaning = {
  keys: [
    create(KeyDescriptionSchema, { key: "loss", direction: Direction.MINIMIZE, unit: "nats" }),
    create(KeyDescriptionSchema, { key: "acc", direction: Direction.MAXIMIZE }),
  ],
  objective: create(ObjectiveSchema, { metric: "val/wer", direction: Direction.MINIMIZE }),
};

describe("metrics side by side", () => {
  it("Z59 take what the direction asks for, and the last where there is none", () => {
    const one = [series("loss", 1, 2, 3), series("acc", 1, 2, 3), series("lr", 1, 2, 3)];
    const rows = compareMetrics([one], meaning, "best");
    expect(
      rows.map(({ name, stat, cells, unit }) => [name, stat, cells[0]!.value, cells[0]!.step, unit]),
    ).toEqual([
      ["acc", "max", 3, 1, ""],
      ["loss", "min", 1, 5, "nats"],
      ["lr", "last", 2, 9, ""],
    ]);
    expect(compareMetrics([one], meaning, "mean").map(({ cells }) => cells[0])).toEqual(
      Array.from({ length: 3 }, () => ({ value: 7, best: false })),
    );
  });

  it("Z59 have the objective first and the machine last, label sets apart", () => {
    const one = ["system/gpu", "acc", "val/wer"].map((key) => series(key, 1, 1, 1));
    const two = [series("acc", 1, 1, 1, { rank: "10" }), series("acc", 1, 1, 1, { rank: "2" })];
    expect(compareMetrics([one, two], meaning, "last").map(({ name }) => name)).toEqual([
      "val/wer",
      "acc",
      "acc{rank=2}",
      "acc{rank=10}",
      "system/gpu",
    ]);
  });

  it("Z59 say better or worse than the baseline by the direction, and which is best", () => {
    const [row] = compareMetrics(
      [[series("loss", 2, 2, 2)], [series("loss", 1, 1, 1)], [series("loss", 3, 3, 3)], []],
      meaning,
      "best",
    );
    expect(row?.cells.map((cell) => cell && [cell.delta?.verdict, cell.delta?.share, cell.best])).toEqual([
      [undefined, undefined, false],
      ["better", -0.5, true],
      ["worse", 0.5, false],
      undefined,
    ]);
    expect(row?.differs).toBe(true);
    expect(deltaOf(2, 3, Direction.MAXIMIZE)?.verdict).toBe("better");
    expect(deltaOf(-2, -3, Direction.MAXIMIZE)).toEqual({ difference: -1, share: -0.5, verdict: "worse" });
    expect(deltaOf(2, 3, Direction.UNSPECIFIED)?.verdict).toBe("neutral");
    expect(deltaOf(0, 3, Direction.MINIMIZE)?.share).toBeUndefined();
    expect(deltaOf(NaN, 3, Direction.MINIMIZE)).toBeUndefined();
    expect(deltaOf(Infinity, Infinity, Direction.MINIMIZE)).toBeUndefined();
  });

  it("Z59 have no best where all are equal, where nothing says what is better, or where nothing is a number", () => {
    const best = (values: number[], key = "loss") =>
      compareMetrics(
        values.map((value) => [series(key, value, value, value)]),
        meaning,
        "last",
      )[0]?.cells.map((cell) => cell?.best);
    expect(best([1, 1])).toEqual([false, false]);
    expect(best([1, 2], "lr")).toEqual([false, false]);
    expect(best([NaN, 2, 3])).toEqual([false, true, false]);
    expect(best([NaN, NaN])).toEqual([false, false]);
  });

  it("Z59 pass over what is no number", () => {
    const text = create(SeriesInfoSchema, { key: "said", kind: SeriesKind.TEXT });
    const empty = create(SeriesInfoSchema, { key: "nothing", kind: SeriesKind.NUMBER });
    const count = create(SeriesInfoSchema, {
      key: "count",
      kind: SeriesKind.INTEGER,
      summary: { last: { integer: 42n } },
    });
    const rows = compareMetrics([[text, empty, count]], meaning, "last");
    expect(rows.map(({ name, cells }) => [name, cells[0]?.value])).toEqual([
      ["count", 42],
      ["nothing", undefined],
    ]);
  });
});

describe("the table for a spreadsheet", () => {
  it("Z62 has every row, quoted, and computes nothing of what a stranger wrote", () => {
    const runs = [
      create(RunSchema, { id: "1a", name: '=cmd|"x"' }),
      create(RunSchema, { id: "2b", name: "b, c" }),
    ];
    const metrics = compareMetrics([[series("loss", -1.5, 1, 2)], []], meaning, "best");
    const texts = ["@SUM(A1)", "two\nlines"].map((text) => ({ text, identity: text }));
    const csv = compareCsv(runs, metrics, [
      { id: "tags", title: "Tags", rows: [compareValues("-x", texts)] },
    ]);
    expect(csv.split("\r\n")).toEqual([
      `part,key,differs,"'=cmd|""x"" (1a)","b, c (2b)"`,
      "metrics,loss min,yes,-1.5,",
      `tags,'-x,yes,'@SUM(A1),"two\nlines"`,
      "",
    ]);
  });
});
