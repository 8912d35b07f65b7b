import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { clockFrom } from "#base/clock.ts";
import { memoryInUse } from "#base/testing/memory-in-use.ts";
import { EnvelopeSchema, SeriesKind, type Envelope } from "#proto/cairn/v1/metric_pb.ts";
import { dose } from "../../../../tools/dose.ts";
import { frameAt } from "../../spool/frame.ts";
import { limits } from "#lang/limits.ts";
import { Notices } from "../notices.ts";
import { Recorder, type RecorderOptions } from "./recorder.ts";

const WRITER = "f".repeat(32);

function record(options: Partial<RecorderOptions> = {}) {
  const notices: string[] = [];
  const envelopes: Envelope[] = [];
  let wallMs = 1_000;
  const recorder = new Recorder({
    writer: WRITER,
    clock: clockFrom({ wallMs: () => wallMs, steadyMs: () => wallMs }),
    notices: new Notices((text) => notices.push(text)),
    labels: {},
    rank: undefined,
    everyCall: false,
    append: (kind, seq, frame) => {
      const read = frameAt(Buffer.from(frame), 0)!;
      expect(read).toMatchObject({ kind, seq });
      envelopes.push(fromBinary(EnvelopeSchema, read.body));
    },
    ...options,
  });
  return { recorder, notices, envelopes, setWallMs: (ms: number) => (wallMs = ms) };
}

/** Everything of one key, over all envelopes. */
function pointsOf(envelopes: readonly Envelope[], key: string) {
  return envelopes.flatMap(({ series }) => series.filter((one) => one.key === key));
}

describe("what a run records", () => {
  it("C2 keeps numbers bit for bit, and integers, booleans and texts as what they are", () => {
    const { recorder, envelopes } = record();
    const numbers = [0, -0, 0.1, NaN, Infinity, -Infinity, 5e-324, 2 ** 53 + 2];
    const integers = [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 9_007_199_254_740_993n];
    for (const x of numbers) recorder.log({ x });
    for (const n of integers) recorder.log({ n });
    recorder.log({ ok: true, note: "ä\u{1f4c8}\n" });
    recorder.log({ ok: false, note: "" });
    recorder.collect();
    const [x] = pointsOf(envelopes, "x");
    expect(Float64Array.from(x!.values)).toEqual(Float64Array.from(numbers));
    expect(Object.is(x!.values[1], -0)).toBe(true);
    expect(pointsOf(envelopes, "n")[0]).toMatchObject({ kind: SeriesKind.INTEGER, integers });
    expect(pointsOf(envelopes, "ok")[0]).toMatchObject({ kind: SeriesKind.BOOL, bools: [true, false] });
    expect(pointsOf(envelopes, "note")[0]).toMatchObject({
      kind: SeriesKind.TEXT,
      texts: ["ä\u{1f4c8}\n", ""],
    });
    expect(envelopes.map(({ seq, writer }) => [seq, writer])).toEqual([[1n, WRITER]]);
  });

  it("C2 a nested object becomes keys with a slash", () => {
    const { recorder, envelopes } = record();
    recorder.log({ train: { loss: 1, "head/a": { b: 2 } } });
    recorder.collect();
    expect(envelopes[0]!.series.map(({ key }) => key)).toEqual(["train/loss", "train/head/a/b"]);
  });

  it("C2 a series keeps its kind: values that fit it exactly are converted, others are left out with a notice", () => {
    const { recorder, envelopes, notices } = record();
    recorder.log({ x: 1, n: 1n, ok: true, note: "a" });
    recorder.log({ x: 2n, n: 2, ok: 0, note: 3 });
    recorder.log({ x: true, n: 2.5, ok: 7, note: "b" });
    recorder.log({ x: "no", n: "no", ok: "no" });
    recorder.log({ x: 2n ** 53n + 1n });
    recorder.collect();
    expect(pointsOf(envelopes, "x")[0]!.values).toEqual([1, 2, 1]);
    expect(pointsOf(envelopes, "n")[0]!.integers).toEqual([1n, 2n]);
    expect(pointsOf(envelopes, "ok")[0]!.bools).toEqual([true, false]);
    expect(pointsOf(envelopes, "note")[0]!.texts).toEqual(["a", "b"]);
    expect(notices.length).toBe(4);
  });

  it("C1 an invalid value is left out, with one notice per key, and never throws", () => {
    const { recorder, envelopes, notices } = record();
    const cycle: Record<string, unknown> = { a: 1 };
    cycle["self"] = cycle;
    const values = {
      f: () => 1,
      s: Symbol("x"),
      u: undefined,
      z: null,
      list: [1],
      date: new Date(),
      map: new Map([["a", 1]]),
      cycle,
      "": 1,
      "a\nb": 1,
      "\ud800": 1,
      ["k".repeat(513)]: 1,
      ok: 1,
    };
    for (let i = 0; i < 3; i++) recorder.log(values);
    recorder.collect();
    const keys = new Set(envelopes.flatMap(({ series }) => series.map(({ key }) => key)));
    expect(keys.has("ok")).toBe(true);
    expect([...keys].filter((key) => !key.startsWith("cycle"))).toEqual(["ok"]);
    for (const name of ["f", "s", "u", "z", "list", "date", "map"]) {
      expect(notices.filter((text) => text.includes(`metric "${name}"`)).length, name).toBe(1);
    }
    expect(new Set(notices).size).toBe(notices.length);
  });

  it("C3 a call without a step has the one after the last, for all its keys", () => {
    const { recorder, envelopes } = record();
    recorder.log({ a: 1, b: 1 });
    recorder.log({ a: 2 });
    recorder.log({ a: 3 }, { step: 100 });
    recorder.log({ a: 4, b: 4 });
    recorder.log({ a: 5 }, { step: 7n });
    recorder.log({ a: 6 });
    recorder.collect();
    expect(pointsOf(envelopes, "a")[0]!.steps).toEqual([0n, 1n, 100n, 101n, 7n, 8n]);
    expect(pointsOf(envelopes, "b")[0]!.steps).toEqual([0n, 101n]);
  });

  it("C3 a step of null is no step, and one that is not an integer is left out with a notice", () => {
    const { recorder, envelopes, notices } = record();
    recorder.log({ a: 1 });
    recorder.log({ a: 2 }, { step: null });
    recorder.log({ a: 3 });
    recorder.log({ b: 1 }, { step: 0.5 });
    recorder.log({ b: 2 }, { step: 2 ** 54 });
    recorder.collect();
    expect(pointsOf(envelopes, "a").map(({ steps, values }) => [steps, values])).toEqual([
      [[0n], [1]],
      [[], [2]],
      [[1n], [3]],
    ]);
    expect(pointsOf(envelopes, "b")[0]).toMatchObject({ steps: [], values: [1, 2] });
    expect(notices.length).toBe(1);
  });

  it("C2 times are the caller's, or those of a clock that never goes back", () => {
    const { recorder, envelopes, setWallMs } = record();
    recorder.log({ a: 1 });
    setWallMs(500);
    recorder.log({ a: 2 });
    recorder.log({ a: 3 }, { time: new Date(77) });
    recorder.log({ a: 4 }, { time: 1_234_567 });
    recorder.log({ a: 5 }, { time: new Date(NaN) });
    recorder.collect();
    expect(pointsOf(envelopes, "a")[0]!.timesUs).toEqual([
      1_000_000n,
      1_000_000n,
      77_000n,
      1_234_567n,
      1_000_000n,
    ]);
  });

  it("C4 a thousand points are written inside the call that completes them", () => {
    const { recorder, envelopes } = record();
    for (let i = 0; i < 2_500; i++) recorder.log({ a: i });
    expect(envelopes.map(({ series }) => series[0]!.values.length)).toEqual([1_000, 1_000]);
  });

  it("C4 a loop that never yields is written once a second", () => {
    const { recorder, envelopes } = record();
    const until = performance.now() + 1_300;
    recorder.log({ a: 1 });
    while (performance.now() < until);
    recorder.log({ a: 2 });
    expect(envelopes.length).toBe(1);
  });

  it("C4 with every call, every call is an envelope", () => {
    const { recorder, envelopes } = record({ everyCall: true });
    recorder.log({ a: 1, b: 2 });
    recorder.line("x", "stdout", 1);
    recorder.param("p", "1");
    expect(envelopes.map(({ seq }) => seq)).toEqual([1n, 2n, 3n]);
  });

  it("C12 points, params and artifacts do not share an envelope, so that one refusal takes no other with it", () => {
    const { recorder, envelopes } = record({ rank: 3, labels: { rank: "3" } });
    recorder.log({ a: 1 }, { labels: { host: "n1" } });
    recorder.param("p", "[1]");
    recorder.tag("t", "x");
    recorder.artifact(new Uint8Array([10, 1, 97]));
    recorder.line("one", "stdout", 5);
    recorder.line("two", "stderr", 6);
    recorder.collect();
    expect(envelopes[0]).toMatchObject({ params: { p: "[1]" }, tags: { t: "x" }, series: [], artifacts: [] });
    expect(envelopes[1]).toMatchObject({ artifacts: [{ name: "a" }], series: [] });
    expect(envelopes[2]).toMatchObject({
      series: [{ key: "a", labels: { rank: "3", host: "n1" } }],
      log: [
        { stream: "stdout", rank: 3, lines: ["one"], timesUs: [5n] },
        { stream: "stderr", rank: 3, lines: ["two"], timesUs: [6n] },
      ],
    });
  });

  it("C50 lines of the program and captured ones stay apart, and only captured ones are dropped", () => {
    const { recorder, envelopes } = record();
    recorder.line("given", "stdout", 1);
    recorder.line("printed", "stdout", 2, false);
    recorder.collect();
    expect(envelopes[0]!.log).toMatchObject([
      { lines: ["given"], written: true },
      { lines: ["printed"], written: false },
    ]);
    recorder.line("printed", "stdout", 3, false);
    recorder.line("given", "stderr", 4);
    recorder.dropCaptured();
    recorder.collect();
    expect(envelopes[1]!.log).toMatchObject([{ stream: "stderr", lines: ["given"], timesUs: [4n] }]);
  });

  it("C12 lines and texts are cut between characters, and split over envelopes", () => {
    const { recorder, envelopes, notices } = record();
    recorder.line("ä".repeat(40_000), "stdout", 1);
    for (let i = 0; i < 2_001; i++) recorder.line("x", "stdout", 1);
    recorder.log({ note: "é".repeat(50_000) });
    recorder.collect();
    const lines = envelopes.map(({ log }) => log.reduce((sum, group) => sum + group.lines.length, 0));
    expect(Math.max(...lines)).toBeLessThanOrEqual(limits.envelopeLinesMax);
    expect(lines.reduce((sum, count) => sum + count, 0)).toBe(2_002);
    expect(Buffer.byteLength(envelopes[0]!.log[0]!.lines[0]!)).toBe(limits.logLineBytesMax);
    expect(Buffer.byteLength(pointsOf(envelopes, "note")[0]!.texts[0]!)).toBe(limits.textValueBytesMax);
    expect(notices.length).toBe(2);
  });

  it("C12 labels that no server takes are left out", () => {
    const { recorder, envelopes, notices } = record();
    const labels = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`l${i}`, i]));
    recorder.log({ a: 1 }, { labels });
    recorder.log(
      { b: 1 },
      { labels: { good: "x", ["n".repeat(129)]: "y", long: "v".repeat(129), bad: "a\nb" } },
    );
    recorder.collect();
    expect(Object.keys(pointsOf(envelopes, "a")[0]!.labels).length).toBe(limits.labelsMax);
    expect(pointsOf(envelopes, "b")[0]!.labels).toEqual({ good: "x" });
    expect(notices.length).toBeGreaterThanOrEqual(4);
  });

  it("C12 a call with fifty thousand texts makes many envelopes within the limits", () => {
    const sizes: number[] = [];
    const { recorder } = record({ append: (_kind, _seq, frame) => sizes.push(frame.length) });
    const text = "x".repeat(1_000);
    recorder.log(Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`key-${i}`, text])));
    recorder.collect();
    expect(sizes.length).toBeGreaterThan(20);
    expect(Math.max(...sizes)).toBeLessThan(limits.messageBytesMax / 4);
  });

  it("C12 very many names cost memory within a bound, and those beyond the limit are left out", () => {
    const seriesMax = dose(100_000, limits.seriesPerRunMax);
    let points = 0;
    const { recorder, notices } = record({ seriesMax, append: () => points++ });
    const before = memoryInUse();
    for (let i = 0; i < seriesMax + 10; i++) recorder.log({ [`metric/${i}`]: i }, { step: 1 });
    const after = memoryInUse();
    recorder.collect();
    const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
    expect(grown).toBeLessThan(seriesMax * 150);
    expect(recorder.pointCount).toBe(seriesMax);
    expect(notices).toEqual(["there are a million metrics in this run; new ones are left out"]);
    // Known names continue, also when their columns were released.
    recorder.log({ "metric/5": 1 });
    recorder.collect();
    expect(recorder.pointCount).toBe(seriesMax + 1);
  }, 300_000);
});
