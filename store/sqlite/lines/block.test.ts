import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CodecError } from "#base/codec/error.ts";
import { logLines } from "#store/contract/naive-log.ts";
import { LineBlock, type LineRun } from "./block.ts";
import { LineBlockWriter } from "./block-writer.ts";
import { decodeSources } from "./sources.ts";
import { dose } from "../../../tools/dose.ts";

const RECEIVED_US = 1_767_225_600_000_000;

const runArbitrary: fc.Arbitrary<LineRun> = fc
  .record({
    texts: fc.array(fc.string({ unit: "binary", maxLength: 30 }), { minLength: 1, maxLength: 6 }),
    origin: fc.constantFrom("process" as const, "scheduler" as const),
    stream: fc.constantFrom("stdout", "stderr", "größe"),
    rank: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { nil: undefined }),
    time: fc.option(fc.integer({ min: -(2 ** 53) + 1, max: 2 ** 53 - 1 }), { nil: undefined }),
    stride: fc.constantFrom(0, 1, 1000, -7),
  })
  .map(({ texts, time, stride, ...source }) => {
    const { lengths, text } = logLines(texts);
    const times =
      time === undefined ? undefined : texts.map((_, i) => time + (time > 0 ? -1 : 1) * i * Math.abs(stride));
    return { source, times: times && Float64Array.from(times), lengths, text };
  });
const runsArbitrary = fc.array(runArbitrary, { maxLength: 12 });

function plain(runs: Iterable<LineRun>) {
  return [...runs].flatMap(({ source: { origin, stream, rank }, times, lengths, text }) => {
    let at = 0;
    return Array.from(lengths, (length, i) => {
      at += length;
      const own = Buffer.from(text).toString("latin1", at - length, at);
      return { origin, stream, rank, timeUs: times?.[i] ?? RECEIVED_US, own };
    });
  });
}

describe("a block of lines", () => {
  it("L2 returns its content in either form, and describes it", () => {
    const writer = new LineBlockWriter();
    fc.assert(
      fc.property(runsArbitrary, fc.boolean(), (runs, packed) => {
        for (const run of runs) writer.add(run);
        const written = packed ? writer.writePacked() : writer.writePlain();
        const lines = plain(runs);
        const block = new LineBlock(written.body, RECEIVED_US);
        expect(plain(block.runs())).toEqual(lines);
        expect(written).toMatchObject({ count: lines.length, size: block.text.length });
        const times = runs.flatMap((run) => [...(run.times ?? [])]);
        expect([written.timeMin, written.timeMax]).toEqual([Math.min(...times), Math.max(...times)]);
        expect(written.untimed).toBe(runs.some((run) => run.times === undefined));
        const said = new Set(lines.map(({ origin, stream, rank }) => JSON.stringify([origin, stream, rank])));
        const listed = decodeSources(written.sources)!;
        expect(
          new Set(listed.map(({ origin, stream, rank }) => JSON.stringify([origin, stream, rank]))),
        ).toEqual(said);
      }),
      { numRuns: dose(150, 1_000) },
    );
  });

  it("L8 is refused or is another block when bytes of it are changed, and never anything else", () => {
    const writer = new LineBlockWriter();
    const change = fc.record({ at: fc.nat(), to: fc.nat(255) });
    fc.assert(
      fc.property(
        runsArbitrary,
        fc.boolean(),
        fc.array(change, { maxLength: 4 }),
        fc.nat(),
        (runs, packed, changes, cut) => {
          for (const run of runs) writer.add(run);
          const { body } = packed ? writer.writePacked() : writer.writePlain();
          for (const { at, to } of changes) body[at % body.length] = to;
          try {
            const block = new LineBlock(body.subarray(0, cut % 3 === 0 ? cut % body.length : body.length), 0);
            expect(plain(block.runs()).length).toBe(block.columns.count);
          } catch (thrown) {
            if (!(thrown instanceof CodecError)) throw thrown;
          }
        },
      ),
      { numRuns: dose(600, 10_000) },
    );
  });

  it("L4 lists no source when there are very many, so that no filter skips it", () => {
    const writer = new LineBlockWriter();
    const { lengths, text } = logLines(["x"]);
    for (let rank = 0; rank < 65; rank++) {
      writer.add({ source: { origin: "process", stream: "stdout", rank }, times: undefined, lengths, text });
    }
    const { sources, body } = writer.writePlain();
    expect(decodeSources(sources)).toBeUndefined();
    expect(new LineBlock(body, 0).columns.sources).toHaveLength(65);
  });
});
