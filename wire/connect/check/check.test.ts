import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { ReadSeriesRequestSchema } from "#proto/cairn/v1/metric_pb.ts";
import { CreateRunRequestSchema } from "#proto/cairn/v1/run_pb.ts";
import { checkBinary } from "./binary.ts";
import { checkJson } from "./json.ts";
import { frameOf, Frames } from "../frames.ts";
import { field, tag, varint, varintField } from "../testing/protobuf.ts";

const text = fc.string({ unit: "binary", maxLength: 30 });
const requests = fc
  .record({
    namespace: text,
    name: text,
    aliases: fc.array(text, { maxLength: 4 }),
    params: fc.dictionary(text, text, { maxKeys: 4, noNullPrototype: true }),
    startedUs: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    getOrCreate: fc.boolean(),
    provenance: fc.record({ command: fc.array(text, { maxLength: 4 }), code: fc.record({ commit: text }) }),
  })
  .map((init) => create(CreateRunRequestSchema, init));

describe("a binary message", () => {
  it("W4 passes when protobuf-es has written it", () => {
    fc.assert(
      fc.property(requests, (message) =>
        checkBinary(CreateRunRequestSchema, toBinary(CreateRunRequestSchema, message)),
      ),
    );
  });

  it("W4 is refused with a CairnError or passes, whatever is done to it", () => {
    const change = fc.record({ at: fc.nat(), to: fc.nat(255) });
    fc.assert(
      fc.property(
        requests,
        fc.array(change, { minLength: 1, maxLength: 5 }),
        fc.nat(),
        (message, changes, cut) => {
          const bytes = toBinary(CreateRunRequestSchema, message);
          for (const { at, to } of changes) if (bytes.length > 0) bytes[at % bytes.length] = to;
          try {
            checkBinary(CreateRunRequestSchema, bytes.subarray(0, cut % (bytes.length + 1)));
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(CairnError);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("W4 is refused for what no field of it may be", () => {
    const refused: [bytes: Uint8Array, message: string][] = [
      [varintField(1, 5), "cannot read the message: it holds field 1 with wire type 0"],
      [field(9, "x"), "cannot read the message: it holds field 9 with wire type 2"],
      [varintField(4, 1), "cannot read the message: it holds field 4 with wire type 0"],
      [varintField(6, 1), "cannot read the message: it holds field 6 with wire type 0"],
      [field(3, Buffer.from([0xff])), "cannot accept aliases: it is not valid UTF-8"],
      [field(4, field(1, Buffer.from([0xff]))), "cannot accept a key of params: it is not valid UTF-8"],
      [field(6, field(6, field(2, Buffer.from([0xff])))), "cannot accept commit: it is not valid UTF-8"],
      [Buffer.concat([tag(70, 3), tag(70, 4)]), "cannot read the message: it holds a group"],
    ];
    for (const [bytes, message] of refused) {
      expect(() => checkBinary(CreateRunRequestSchema, bytes)).toThrow(message);
    }
    const packed = field(3, varint(1), varint(2));
    expect(() => checkBinary(ReadSeriesRequestSchema, packed)).toThrow("field 3 with wire type 2");
  });

  it("W3 is refused for more objects or values than anyone would send", () => {
    const selectors = Buffer.alloc((limits.messageObjectsMax + 1) * 2, field(1));
    expect(() => checkBinary(ReadSeriesRequestSchema, selectors)).toThrow("objects in one message");
    const aliases = Buffer.alloc((limits.messageValuesMax + 1) * 2, field(3));
    expect(() => checkBinary(CreateRunRequestSchema, aliases)).toThrow("values in one message");
  });
});

describe("JSON", () => {
  it("W4 passes whatever its texts hold", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 10, stringUnit: "binary" }), (json) => checkJson(Buffer.from(json))),
    );
    for (const json of ['"\\\\"', '{"a\\"[[[": "]"}', '"\\\\\\""', '"open', '"', ""])
      checkJson(Buffer.from(json));
  });

  it("W3 is refused for too many levels, objects and values", () => {
    const levels = limits.messageNestingMax;
    checkJson(Buffer.from("[".repeat(levels) + "]".repeat(levels)));
    checkJson(Buffer.from("[],".repeat(1_000)));
    expect(() => checkJson(Buffer.from("[".repeat(levels + 1)))).toThrow("levels in one message");
    expect(() => checkJson(Buffer.from('{"a":'.repeat(levels + 1)))).toThrow("levels in one message");
    expect(() => checkJson(Buffer.alloc((limits.messageObjectsMax + 1) * 3, "{},"))).toThrow(
      "objects in one message",
    );
    expect(() => checkJson(Buffer.alloc((limits.messageValuesMax + 1) * 2, "0,"))).toThrow(
      "values in one message",
    );
  });

  it("W4 is refused when it is not UTF-8", () => {
    expect(() => checkJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow("not valid UTF-8");
  });
});

describe("frames", () => {
  const frame = fc.record({ flags: fc.nat(255), data: fc.uint8Array({ maxLength: 40 }) });

  it("W4 come out as they went in, however the bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 6 }), fc.array(fc.nat(12), { minLength: 1 }), (sent, cuts) => {
        const bytes = Buffer.concat(sent.map(({ flags, data }) => frameOf(flags, data)));
        const frames = new Frames();
        const received = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = 1 + cuts[i % cuts.length]!;
          frames.add(bytes.subarray(at, at + size));
          at += size;
          for (let next = frames.next(); next !== undefined; next = frames.next()) {
            received.push({ flags: next.flags, data: Uint8Array.from(next.data) });
          }
        }
        expect(received).toEqual(sent);
        expect(frames.pending).toBe(false);
      }),
    );
  });

  it("W3 are refused by their length alone", () => {
    const frames = new Frames();
    const head = Buffer.alloc(5);
    head.writeUInt32BE(limits.messageBytesMax + 1, 1);
    frames.add(head);
    expect(() => frames.next()).toThrow("more than");
  });
});
