import { inflateSync, crc32 } from "node:zlib";
import { toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { EnvelopeSchema } from "#proto/cairn/v1/metric_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { envelopesOf } from "./envelopes.ts";
import { encodePng } from "./png.ts";
import { Random } from "./random.ts";
import { tellStory } from "./story.ts";

function bytesOf(seed: number): string[] {
  return tellStory(seed, "small").runs.map((run) =>
    envelopesOf(run, "0".repeat(32), 1e15)
      .map((envelope) => Buffer.from(toBinary(EnvelopeSchema, envelope)).toString("base64"))
      .join("\n"),
  );
}

describe("tellStory", () => {
  it("T52 is the same to the byte for the same seed, and another for another", () => {
    const first = bytesOf(42);
    expect(bytesOf(42)).toEqual(first);
    const other = bytesOf(43);
    const same = first.filter((bytes, i) => bytes !== "" && bytes === other[i]);
    expect(same).toEqual([]);
  });

  it("T53 has a sweep of 60 runs in which settings matter more than seeds", () => {
    const { runs } = tellStory(42, "full");
    const sweep = runs.filter(({ namespace }) => namespace === "speech/sweep");
    expect(sweep).toHaveLength(60);
    const finals = new Map<string, number[]>();
    for (const run of sweep) {
      const wer = run.parts!()[0]!
        .series.find(({ key }) => key === "val/wer")!
        .values.at(-1)!;
      const setting = `${String(run.params["lr"])}/${String(run.params["depth"])}`;
      if (run.status === RunStatus.FINISHED) finals.set(setting, [...(finals.get(setting) ?? []), wer]);
    }
    const spreads = [...finals.values()].map((wers) => Math.max(...wers) - Math.min(...wers));
    const means = [...finals.values()].map((wers) => wers.reduce((a, b) => a + b) / wers.length);
    expect(Math.max(...means) - Math.min(...means)).toBeGreaterThan(3 * Math.max(...spreads));
    expect(new Set(sweep.map(({ params }) => params["seed"])).size).toBe(5);
  });

  it("T53 has every status but running", () => {
    const { runs } = tellStory(1, "small");
    expect(new Set(runs.map(({ status }) => status))).toEqual(
      new Set([RunStatus.FINISHED, RunStatus.FAILED, RunStatus.KILLED, RunStatus.LOST, RunStatus.SCHEDULED]),
    );
  });

  it("T53 keeps envelopes within the limits of the server", () => {
    for (const run of tellStory(42, "full").runs) {
      for (const { series, log, artifacts } of envelopesOf(run, "0".repeat(32), 1e15)) {
        expect(series.reduce((sum, { values }) => sum + values.length, 0)).toBeLessThanOrEqual(100_000);
        expect(log.reduce((sum, { lines }) => sum + lines.length, 0)).toBeLessThanOrEqual(1_000);
        for (const { content } of artifacts) expect(content?.length ?? 0).toBeLessThan(256 * 1024);
      }
    }
  });
});

describe("Random", () => {
  it("T52 forks by name only", () => {
    const one = new Random("a");
    one.next();
    expect(one.fork("b").next()).toBe(new Random("a").fork("b").next());
    expect(one.fork("b").next()).not.toBe(one.fork("c").next());
  });

  it("T52 is even and normal enough for believable curves", () => {
    const random = new Random("even");
    const count = 20_000;
    const tenths = Array.from({ length: 10 }, () => 0);
    let sum = 0;
    let squares = 0;
    for (let i = 0; i < count; i++) {
      tenths[Math.floor(random.next() * 10)]!++;
      const normal = random.normal();
      sum += normal;
      squares += normal * normal;
    }
    for (const tenth of tenths) expect(Math.abs(tenth - count / 10)).toBeLessThan(200);
    expect(Math.abs(sum / count)).toBeLessThan(0.03);
    expect(squares / count).toBeCloseTo(1, 1);
  });
});

describe("encodePng", () => {
  it("T53 writes chunks with the right checksums and every pixel", () => {
    const png = Buffer.from(encodePng(3, 2, (x, y) => [x * 100, y * 200, 300]));
    expect(png.subarray(0, 8).toString("latin1")).toBe("\u0089PNG\r\n\u001a\n");
    const names: string[] = [];
    let pixels = Buffer.alloc(0);
    for (let at = 8; at < png.length;) {
      const length = png.readUInt32BE(at);
      const body = png.subarray(at + 4, at + 8 + length);
      expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(body));
      names.push(body.toString("latin1", 0, 4));
      if (names.at(-1) === "IDAT") pixels = inflateSync(body.subarray(4));
      at += 12 + length;
    }
    expect(names).toEqual(["IHDR", "IDAT", "IEND"]);
    expect([...pixels]).toEqual([
      0, 0, 0, 255, 100, 0, 255, 200, 0, 255, 0, 0, 200, 255, 100, 200, 255, 200, 200, 255,
    ]);
  });
});
