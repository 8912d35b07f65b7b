import { describe, expect, it } from "vitest";
import { logLines } from "#store/contract/naive-log.ts";
import { numbers, points } from "#store/contract/stores.ts";
import type { ErrorCode } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { ArtifactRecord } from "../types/artifact.ts";
import type { RunEnvelope } from "../types/envelope.ts";
import type { LogLines } from "../types/log.ts";
import type { Points, SeriesPoints } from "../types/series.ts";
import { checkEnvelope } from "./check-envelope.ts";

function envelope(parts: Partial<RunEnvelope> = {}): RunEnvelope {
  return {
    run: { by: "id", id: "0".repeat(32) },
    writer: "w",
    seq: 1,
    series: [],
    change: undefined,
    lost: [],
    ...parts,
  };
}

function refused(code: ErrorCode, reason?: string) {
  return expect.objectContaining({ name: "CairnError", code, ...(reason !== undefined && { reason }) });
}

function record(parts: Partial<ArtifactRecord>): ArtifactRecord {
  return {
    name: "a.txt",
    step: undefined,
    kind: "file",
    uri: undefined,
    content: undefined,
    mediaType: "",
    metadata: new Map(),
    sha256: undefined,
    sizeBytes: undefined,
    ...parts,
  };
}

function series(columns: Partial<Points>, key = "x"): SeriesPoints {
  const values = { kind: "number", data: Float64Array.of(1, 2) } as const;
  return { key, labels: [], points: { ...points(values), ...columns } };
}

const two = Float64Array.of(1, 2);

describe("an envelope before it reaches the store", () => {
  it("is accepted unchanged when it is valid", () => {
    const whole = envelope({
      series: [series({ steps: two, times: two, nanos: Uint16Array.of(0, 999) })],
      seq: 5,
      lost: [{ first: 1, last: 4 }],
    });
    expect(checkEnvelope(whole)).toBe(whole);
    expect(checkEnvelope(envelope({ writer: "", seq: 0 }))).toMatchObject({ seq: 0 });
  });

  it.each([
    ["a number without a writer", { writer: "" }],
    ["a writer without a number", { seq: 0 }],
    ["a negative number", { seq: -1 }],
    ["half a number", { seq: 1.5 }],
    ["a number beyond 2^53", { seq: 2 ** 53 }],
    ["a writer that is not Unicode", { writer: "\udc00" }],
  ])("E1 refuses %s", (_, parts) => {
    expect(() => checkEnvelope(envelope(parts))).toThrow(refused("invalid"));
  });

  it.each([
    ["that begin at 0", { first: 0, last: 2 }],
    ["that end before they begin", { first: 3, last: 2 }],
    ["up to the envelope itself", { first: 3, last: 9 }],
    ["that are not integers", { first: 1.5, last: 2 }],
    ["that never end", { first: 1, last: Infinity }],
  ])("E5 refuses losses %s", (_, lost) => {
    expect(() => checkEnvelope(envelope({ seq: 9, lost: [lost] }))).toThrow(refused("invalid"));
  });

  it.each([
    ["values", { values: { kind: "number", data: Float64Array.of(1) } }],
    ["steps", { steps: Float64Array.of(1) }],
    ["times", { times: Float64Array.of(1, 2, 3) }],
    ["nanos", { times: two, nanos: Uint16Array.of(1) }],
    ["nanos without times", { nanos: Uint16Array.of(1, 2) }],
  ] as [string, Partial<Points>][])("W4 refuses uneven %s", (_, columns) => {
    expect(() => checkEnvelope(envelope({ series: [series(columns)] }))).toThrow(
      refused("invalid", "COLUMNS_UNEVEN"),
    );
  });

  it("V5 refuses invalid nanoseconds", () => {
    const wrong = series({ times: two, nanos: Uint16Array.of(1, 1000) });
    expect(() => checkEnvelope(envelope({ series: [wrong] }))).toThrow(refused("invalid"));
  });

  it.each([2 ** 53 + 2, -(2 ** 53) - 2, 1.5, NaN, Infinity])("V3 refuses step and time %d", (bad) => {
    const unsafe = refused("invalid", "UNSAFE_INTEGER");
    const column = Float64Array.of(0, bad);
    expect(() => checkEnvelope(envelope({ series: [series({ steps: column })] }))).toThrow(unsafe);
    expect(() => checkEnvelope(envelope({ series: [series({ times: column })] }))).toThrow(unsafe);
  });

  it("V3 accepts steps and times of 2^53", () => {
    const wide = Float64Array.of(2 ** 53, -(2 ** 53));
    expect(() => checkEnvelope(envelope({ series: [series({ steps: wide, times: wide })] }))).not.toThrow();
  });

  it("W3 refuses an envelope over a limit", () => {
    const exceeded = refused("exhausted", "LIMIT_EXCEEDED");
    const half = numbers(
      "a",
      Array.from({ length: limits.envelopePointsMax / 2 }, () => 0),
    );
    expect(() => checkEnvelope(envelope({ series: [half, half] }))).not.toThrow();
    expect(() => checkEnvelope(envelope({ series: [half, half, numbers("b", [1])] }))).toThrow(exceeded);
    const none = numbers("a", []);
    const many = Array.from({ length: limits.envelopeSeriesMax + 1 }, () => none);
    expect(() => checkEnvelope(envelope({ series: many }))).toThrow(exceeded);
    const lost = Array.from({ length: limits.envelopeLostRangesMax + 1 }, () => ({ first: 1, last: 1 }));
    expect(() => checkEnvelope(envelope({ seq: 2, lost }))).toThrow(exceeded);
    const text = points({ kind: "text", data: ["x".repeat(limits.textValueBytesMax + 1)] });
    expect(() => checkEnvelope(envelope({ series: [{ key: "t", labels: [], points: text }] }))).toThrow(
      exceeded,
    );
    expect(() => checkEnvelope(envelope({ series: [numbers("k".repeat(513), [1])] }))).toThrow(exceeded);
    expect(() => checkEnvelope(envelope({ writer: "w".repeat(limits.writerBytesMax + 1) }))).toThrow(
      exceeded,
    );
  });

  it.each([
    ["more lines than one may hold", [logLines(Array.from({ length: 1_001 }, () => ""))], "exhausted"],
    [
      "more lines in many groups",
      Array.from({ length: 11 }, () => logLines(Array.from({ length: 91 }, () => "x"))),
      "exhausted",
    ],
    ["more groups than lines", Array.from({ length: 1_001 }, () => logLines([])), "exhausted"],
    ["a line of 64 KiB and one byte", [logLines(["x".repeat(65_537)])], "exhausted"],
    ["a stream of 65 bytes", [logLines(["x"], { stream: "s".repeat(65) })], "exhausted"],
    ["a stream without a name", [logLines(["x"], { stream: "" })], "invalid"],
    ["a stream with a line feed", [logLines(["x"], { stream: "a\nb" })], "invalid"],
    ["a rank that is not an integer", [logLines(["x"], { rank: 0.5 })], "invalid"],
    ["a rank beyond 32 bits", [logLines(["x"], { rank: 2 ** 31 })], "invalid"],
    ["times for some lines", [logLines(["x", "y"], { times: Float64Array.of(1) })], "invalid"],
    ["a time that is not an integer", [logLines(["x"], { times: Float64Array.of(1.5) })], "invalid"],
    ["a time beyond 2^53", [logLines(["x"], { times: Float64Array.of(2 ** 53 + 2) })], "invalid"],
    ["a text of another length", [logLines(["x"], { lengths: Uint32Array.of(2) })], "invalid"],
  ] as [string, LogLines[], ErrorCode][])("L9 refuses %s", (_, log, code) => {
    expect(() => checkEnvelope(envelope({ log }))).toThrow(refused(code));
  });

  it("L9 accepts lines and artifacts at their limits", () => {
    const lines = Array.from({ length: 1_000 }, () => "");
    const times = Float64Array.from(lines, () => 2 ** 53);
    expect(() => checkEnvelope(envelope({ log: [logLines(lines, { times })] }))).not.toThrow();
    const inline = (size: number) => record({ content: new Uint8Array(size) });
    const most = Array.from({ length: 16 }, () => inline(256 << 10));
    expect(() => checkEnvelope(envelope({ artifacts: most }))).not.toThrow();
    const exceeded = refused("exhausted", "LIMIT_EXCEEDED");
    expect(() => checkEnvelope(envelope({ artifacts: [...most, inline(1)] }))).toThrow(exceeded);
    const many = Array.from({ length: 1_001 }, () => record({ uri: "s3://b/k" }));
    expect(() => checkEnvelope(envelope({ artifacts: many }))).toThrow(exceeded);
    expect(() => checkEnvelope(envelope({ artifacts: [record({})] }))).toThrow(refused("invalid"));
  });

  it("E10 brings artifacts into canonical form", () => {
    const metadata = new Map([
      ["b", "[ 1 ]"],
      ["a", "1.0"],
    ]);
    const { artifacts } = checkEnvelope(
      envelope({ artifacts: [record({ content: Buffer.from("x"), metadata })] }),
    );
    expect(artifacts).toMatchObject([{ mediaType: expect.stringMatching(/.+/) as string, sizeBytes: 1 }]);
    expect([...artifacts![0]!.metadata]).toEqual([
      ["a", "1.0"],
      ["b", "[1]"],
    ]);
  });

  it("V8 makes its params canonical and does not change its input", () => {
    const params = new Map([["a", "[ 1 ]"]]);
    const checked = checkEnvelope(envelope({ change: { params } }));
    expect(checked.change!.params).toEqual(new Map([["a", "[1]"]]));
    expect(params.get("a")).toBe("[ 1 ]");
  });
});
