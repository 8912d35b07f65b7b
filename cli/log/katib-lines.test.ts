import { describe, expect, it } from "vitest";
import { KATIB_FILTER, parseKatibLine } from "./katib-lines.ts";
import { paramJson, parseValue, splitPair } from "./parse-pairs.ts";
import { cpuMs } from "#base/cpu-ms.ts";

const filter = new RegExp(KATIB_FILTER, "g");

describe("lines of a pipe", () => {
  it.each<[string, [string, number][]]>([
    ["loss=0.5", [["loss", 0.5]]],
    [
      "epoch 3: loss = -1.5e-3, acc=+2",
      [
        ["loss", -0.0015],
        ["acc", 2],
      ],
    ],
    [
      "a=.5 b=1E5 c|d=3 e-f=4",
      [
        ["a", 0.5],
        ["b", 1e5],
        ["c|d", 3],
        ["e-f", 4],
      ],
    ],
    ["accuracy=abc other=", []],
    ["nothing here", []],
    ["a==1", []],
    ["", []],
    ["loss=1.5.2", [["loss", 1.5]]],
  ])("C13 %j has the metrics that Katib reads from it", (line, metrics) => {
    expect(parseKatibLine(line, filter)).toEqual({ timeUs: undefined, metrics });
  });

  it.each<[string, number | undefined]>([
    ["2024-03-01T10:00:00Z a=1", 1_709_287_200_000_000],
    ["2024-03-01T10:00:00.123456789Z a=1", 1_709_287_200_123_456],
    ["2024-03-01T12:00:00+02:00 a=1", 1_709_287_200_000_000],
    ["2024-13-45T99:00:00Z a=1", undefined],
    ["2024-03-01 a=1", undefined],
    ["x 2024-03-01T10:00:00Z a=1", undefined],
  ])("C13 the time of %j", (line, timeUs) => {
    const parsed = parseKatibLine(line, filter);
    expect(parsed.timeUs).toBe(timeUs);
    expect(parsed.metrics).toContainEqual(["a", 1]);
  });

  it("C13 a line that only looks like metrics is read in linear time", () => {
    const before = cpuMs();
    parseKatibLine(`${"a-|".repeat(20_000)}=${"1".repeat(20_000)}`, filter);
    parseKatibLine("=".repeat(60_000), filter);
    expect(cpuMs() - before).toBeLessThan(2_000);
  });

  it("C13 values, params and pairs of a command line", () => {
    expect(["1", "-2.5e3", "nan", "-Inf", "true", "1x", ""].map(parseValue)).toEqual([
      1,
      -2500,
      NaN,
      -Infinity,
      true,
      "1x",
      "",
    ]);
    expect(["1.0", "NaN", '"x"', "x", "[1]", "[1, NaN]", "nan"].map(paramJson)).toEqual([
      "1.0",
      "NaN",
      '"x"',
      '"x"',
      "[1]",
      "[1, NaN]",
      '"nan"',
    ]);
    expect(splitPair("a=b=c", "tag")).toEqual(["a", "b=c"]);
    expect(() => splitPair("=b", "tag")).toThrow("expected name=value");
  });
});
