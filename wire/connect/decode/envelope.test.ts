import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { Envelope } from "#core/types/envelope.ts";
import { decodeEnvelope } from "./envelope.ts";
import { envelopes, meaningOf } from "../testing/envelope-arbitrary.ts";
import { spellLoosely, spellPlainly } from "../testing/spell-envelope.ts";
import {
  double,
  field,
  FIXED64,
  LENGTH,
  longVarint,
  tag,
  VARINT,
  varint,
  varintField,
  zigzag,
} from "../testing/protobuf.ts";
import { dose } from "../../../tools/dose.ts";

const RUN = field(1, field(1, "0123456789abcdef0123456789abcdef"));

/** Typed arrays as text of their bits, so that NaN, -0 and the places of views do not matter. */
function plain(envelope: Envelope): unknown {
  return {
    ...envelope,
    series: envelope.series.map(({ key, labels, points }) => ({
      key,
      labels,
      count: points.count,
      steps: points.steps && [...points.steps],
      times: points.times && [...points.times],
      nanos: points.nanos && [...points.nanos],
      kind: points.values.kind,
      values: points.values.kind === "number" ? bitsOf(points.values.data) : [...points.values.data],
    })),
  };
}

function bitsOf(values: Float64Array): bigint[] {
  return [...new BigUint64Array(Float64Array.from(values).buffer)];
}

function decodeSeries(...fields: Uint8Array[]): Envelope["series"][number] {
  return decodeEnvelope(Buffer.concat([RUN, field(4, field(1, "k"), ...fields)])).series[0]!;
}

function refusal(bytes: Uint8Array): CairnError {
  try {
    decodeEnvelope(bytes);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(CairnError);
    return thrown as CairnError;
  }
  throw new Error("nothing was refused");
}

function refusedSeries(...fields: Uint8Array[]): CairnError {
  return refusal(Buffer.concat([RUN, field(4, field(1, "k"), ...fields)]));
}

/** Either decodes or throws a CairnError for a mistake of the caller. */
function survives(bytes: Uint8Array): void {
  try {
    decodeEnvelope(bytes);
  } catch (thrown) {
    if (!(thrown instanceof CairnError)) throw thrown;
    expect(["invalid", "exhausted"]).toContain(thrown.code);
  }
}

describe("what an envelope means", () => {
  it("W2 is the same as in protobuf-es", () => {
    fc.assert(
      fc.property(envelopes, (message) => {
        expect(plain(decodeEnvelope(spellPlainly(message)))).toEqual(plain(meaningOf(message)));
      }),
      { numRuns: dose(150, 1_000) },
    );
  });

  it("W2 does not depend on the order of fields, on packing or on unknown fields", () => {
    fc.assert(
      fc.property(envelopes, fc.infiniteStream(fc.nat()), (message, choices) => {
        const pick = (n: number) => (choices.next().value as number) % n;
        expect(plain(decodeEnvelope(spellLoosely(message, pick)))).toEqual(plain(meaningOf(message)));
      }),
      { numRuns: dose(150, 1_000) },
    );
  });

  it("V1 keeps every bit of a double, also of a NaN", () => {
    const bits = [0x7ff8dead0000beefn, 0xfff0000000000001n, 0x8000000000000000n, 1n, 0x7ff0000000000000n];
    const bytes = Buffer.from(BigUint64Array.from(bits).buffer);
    const split = [
      field(6, bytes.subarray(0, 16)),
      tag(6, FIXED64),
      bytes.subarray(16, 24),
      field(6, bytes.subarray(24)),
    ];
    for (const fields of [[field(6, bytes)], split]) {
      const { data } = decodeSeries(...fields).points.values as { data: Float64Array };
      const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
      expect(bits.map((_, i) => view.getBigUint64(i * 8, true))).toEqual(bits);
    }
  });

  it("V2 keeps integers of the whole 64 bits", () => {
    const all = [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, -(2n ** 53n) - 1n, 0n, -1n];
    const { values } = decodeSeries(varintField(3, 2), field(7, ...all.map(zigzag))).points;
    expect(values).toEqual({ kind: "integer", data: BigInt64Array.from(all) });
  });

  it("V3 keeps steps and times up to 2^53 and refuses larger ones", () => {
    const edge = 2n ** 53n;
    const good = [edge, -edge, edge - 1n, 1n - edge, 2n ** 27n, -(2n ** 27n), 2n ** 32n, 2n ** 48n + 1n];
    const ones = field(6, ...good.map(() => double(1)));
    const { points } = decodeSeries(ones, field(4, ...good.map(zigzag)), field(5, ...good.map(zigzag)));
    expect([...points.steps!].map(BigInt)).toEqual(good);
    expect([...points.times!].map(BigInt)).toEqual(good);
    for (const bad of [
      edge + 1n,
      -edge - 1n,
      edge + 2n,
      2n ** 54n,
      -(2n ** 55n) + 1n,
      2n ** 63n - 1n,
      -(2n ** 63n),
    ]) {
      for (const column of [4, 5]) {
        for (const fields of [[field(column, zigzag(bad))], [tag(column, VARINT), zigzag(bad)]]) {
          expect(refusedSeries(field(6, double(1)), ...fields)).toMatchObject({
            code: "invalid",
            reason: "UNSAFE_INTEGER",
          });
        }
      }
    }
  });

  it("V3 keeps numbers of envelopes and times of ends the same way", () => {
    const edge = 2n ** 53n;
    const all = Buffer.concat([
      RUN,
      varintField(3, edge),
      varintField(10, -edge),
      field(8, varintField(1, edge)),
    ]);
    expect(decodeEnvelope(all)).toMatchObject({
      seq: 2 ** 53,
      change: { endedUs: -(2 ** 53) },
      lost: [{ first: 2 ** 53 }],
    });
    const bad = [
      varintField(3, edge + 1n),
      varintField(3, 2n ** 64n - 1n),
      varintField(10, edge + 1n),
      varintField(10, -edge - 1n),
      varintField(10, -(2n ** 63n)),
      field(8, varintField(2, edge + 1n)),
    ];
    for (const one of bad)
      expect(refusal(Buffer.concat([RUN, one]))).toMatchObject({ reason: "UNSAFE_INTEGER" });
  });
});

describe("malformed input", () => {
  it("W4 cut off anywhere is refused or is a shorter message, never anything else", () => {
    fc.assert(
      fc.property(envelopes, (message) => {
        const bytes = spellPlainly(message);
        for (let end = 0; end < bytes.length; end++) survives(bytes.subarray(0, end));
      }),
      { numRuns: dose(8, 50) },
    );
  });

  it("W4 with any bytes changed is refused or is another message", () => {
    const change = fc.record({ at: fc.nat(), to: fc.nat(255) });
    fc.assert(
      fc.property(envelopes, fc.array(change, { minLength: 1, maxLength: 6 }), (message, changes) => {
        const bytes = spellPlainly(message);
        for (const { at, to } of changes) bytes[at % bytes.length] = to;
        survives(bytes);
      }),
      { numRuns: dose(800, 5_000) },
    );
  });

  it("W4 random bytes are refused or are a message", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => survives(bytes)),
      { numRuns: dose(2_000, 20_000) },
    );
  });

  const broken = Buffer.from([0x61, 0xff, 0x62]);
  const overlong = Buffer.from([0xc0, 0x80]);
  const surrogate = Buffer.from([0xed, 0xa0, 0x80]);
  const places: [what: string, spell: (text: Uint8Array) => Buffer][] = [
    ["run id", (text) => field(1, field(1, text))],
    ["run path", (text) => field(1, field(2, text))],
    ["alias", (text) => field(1, field(3, text))],
    ["namespace", (text) => field(1, field(3, "a"), field(4, text))],
    ["writer", (text) => field(2, text)],
    ["metric key", (text) => field(4, field(1, text))],
    ["label name", (text) => field(4, field(2, field(1, text)))],
    ["label", (text) => field(4, field(2, field(1, "l"), field(2, text)))],
    ["text value", (text) => field(4, varintField(3, 4), field(9, text))],
    ["param name", (text) => field(5, field(1, text))],
    ["param", (text) => field(5, field(1, "p"), field(2, text))],
    ["tag name", (text) => field(6, field(1, text))],
    ["tag", (text) => field(6, field(1, "t"), field(2, text))],
    ["log stream", (text) => field(11, field(2, text))],
    ["a log line", (text) => field(11, field(5, "first"), field(5, text), field(5, "last"))],
    ["artifact name", (text) => field(12, field(1, text))],
    ["artifact URI", (text) => field(12, field(4, text))],
    ["media type", (text) => field(12, field(6, text))],
    ["metadata name", (text) => field(12, field(7, field(1, text)))],
    ["metadata", (text) => field(12, field(7, field(1, "m"), field(2, text)))],
    ["SHA-256", (text) => field(12, field(8, text))],
  ];

  it.each(places)("W4 broken UTF-8 in %s is refused by that name", (what, spell) => {
    for (const bad of [broken, overlong, surrogate, Buffer.concat([Buffer.alloc(100, 0x61), broken])]) {
      const error = refusal(Buffer.concat([RUN, spell(bad)]));
      expect(error).toMatchObject({ code: "invalid", reason: "BAD_UTF8" });
      expect(error.message).toContain(what);
    }
  });

  it("W4 names the problem", () => {
    const cases: [bytes: Uint8Array, holds: string][] = [
      [Buffer.concat([tag(20, 3), tag(20, 4)]), "a group"],
      [tag(20, 4), "wire type 4"],
      [tag(20, 6), "wire type 6"],
      [tag(20, 7), "wire type 7"],
      [Buffer.from([0x00]), "field number 0"],
      [varintField(1, 1), "field 1 with wire type 0"],
      [field(3, "x"), "field 3 with wire type 2"],
      [field(4, varintField(1, 1)), "field 1 with wire type 0"],
      [field(4, Buffer.concat([tag(6, VARINT), varint(1)])), "field 6 with wire type 0"],
      [field(4, Buffer.concat([tag(4, FIXED64), Buffer.alloc(8)])), "field 4 with wire type 1"],
      [
        Buffer.concat([tag(2, LENGTH), varint(5), Buffer.from("abcd")]),
        "a field that ends beyond its message",
      ],
      [Buffer.concat([tag(2, LENGTH), varint(2 ** 32 - 1)]), "a field that ends beyond its message"],
      [Buffer.concat([tag(2, LENGTH), varint(2n ** 40n)]), "a number beyond 32 bits"],
      [Buffer.concat([tag(30, FIXED64), Buffer.alloc(7)]), "a field that ends beyond its message"],
      [Buffer.concat([tag(30, 5), Buffer.alloc(3)]), "a field that ends beyond its message"],
      [Buffer.concat([tag(3, VARINT), Buffer.alloc(11, 128)]), "a number of more than 10 bytes"],
      [Buffer.concat([tag(3, VARINT), Buffer.alloc(3, 128)]), "a number that ends beyond its message"],
      [field(4, field(6, Buffer.alloc(12))), "doubles of a length that is not a multiple of 8"],
      [
        field(4, field(6, Buffer.alloc(4)), field(6, Buffer.alloc(4))),
        "doubles of a length that is not a multiple of 8",
      ],
      [field(4, field(4, Buffer.from([128]))), "a number that ends beyond its field"],
      [field(4, varintField(3, 3), field(8, Buffer.from([1, 128]))), "a number that ends beyond its field"],
      [varintField(7, -1n), "a number beyond 32 bits"],
    ];
    for (const [bytes, holds] of cases) {
      const error = refusal(Buffer.concat([RUN, bytes]));
      expect(error).toMatchObject({ code: "invalid", reason: "MALFORMED" });
      expect(error.message).toBe(`cannot read the message: it holds ${holds}`);
    }
  });

  it("W4 a number may be longer than it need be, up to 10 bytes", () => {
    const seq = Buffer.concat([tag(3, VARINT), longVarint(7, 10)]);
    expect(decodeEnvelope(Buffer.concat([RUN, seq])).seq).toBe(7);
    const step = decodeSeries(field(6, double(1)), field(4, longVarint(14, 8)));
    expect([...step.points.steps!]).toEqual([7]);
    const integer = decodeSeries(varintField(3, 2), field(7, longVarint(14, 10)));
    expect(integer.points.values.data).toEqual(BigInt64Array.of(7n));
  });

  it("W4 an unknown kind, another kind's values and an unknown status are refused by name", () => {
    expect(refusedSeries(varintField(3, 9)).message).toBe('cannot append series "k": unknown kind 9');
    expect(refusedSeries(varintField(3, 2), field(6, double(1)))).toMatchObject({ reason: "KIND_MISMATCH" });
    expect(refusedSeries(field(9, "x"))).toMatchObject({ reason: "KIND_MISMATCH" });
    expect(refusal(Buffer.concat([RUN, varintField(7, 99)])).message).toContain("cannot set status 99");
    expect(refusal(Buffer.concat([RUN, field(11, varintField(1, 3))])).message).toContain("of origin 3");
    expect(refusal(Buffer.concat([RUN, field(12, varintField(3, 10))])).message).toContain("of kind 10");
  });

  it("L9, W4 a character that is cut between two lines is refused, though together they are valid", () => {
    const [first, second] = [Buffer.from([0xc3]), Buffer.from([0xa9])];
    expect(refusal(Buffer.concat([RUN, field(11, field(5, first), field(5, second))]))).toMatchObject({
      reason: "BAD_UTF8",
    });
    const both = decodeEnvelope(Buffer.concat([RUN, field(11, field(5, first, second))]));
    expect(Buffer.from(both.log![0]!.text).toString()).toBe("é");
  });

  it("L9, W4 lines have a time each, or none of them has", () => {
    const two = [field(5, "a"), field(5, "b")];
    for (const times of [[field(4, zigzag(1))], [field(4, zigzag(1), zigzag(2), zigzag(3))]]) {
      const error = refusal(Buffer.concat([RUN, field(11, ...two, ...times)]));
      expect(error).toMatchObject({ code: "invalid", reason: "COLUMNS_UNEVEN" });
    }
  });

  it("W4 a run has one name", () => {
    expect(refusal(Buffer.alloc(0)).message).toBe("cannot find a run by 0 names");
    expect(refusal(field(1)).message).toBe("cannot find a run by 0 names");
    expect(refusal(field(1, field(1, "a"), field(3, "b"))).message).toBe("cannot find a run by 2 names");
    expect(refusal(field(1, field(1, "a"), field(4, "b"))).message).toContain("only an alias takes one");
  });
});

describe("limits", () => {
  const { envelopePointsMax, messageBytesMax } = limits;
  const fill = (unit: Uint8Array): Buffer => {
    const count = Math.floor((messageBytesMax - 100) / unit.length);
    return Buffer.alloc(count * unit.length, unit);
  };
  /** The same field repeated, each with another number where `unit` has zeros. */
  const fillNumbered = (unit: Buffer): Buffer => {
    const bytes = fill(unit);
    const place = unit.indexOf("00000000");
    for (let at = 0, i = 0; at < bytes.length; at += unit.length, i++) {
      bytes.write(String(i).padStart(8, "0"), at + place, "latin1");
    }
    return bytes;
  };
  /** Messages of the largest size that hold as many things as fit. */
  const floods: [what: string, bytes: () => Buffer][] = [
    ["empty series", () => fill(field(4))],
    ["packed steps", () => field(4, field(4, fill(Buffer.from([2]))))],
    [
      "packed steps in many series",
      () => fill(field(4, field(4, Buffer.alloc(90_000, 2)), field(6, double(1)))),
    ],
    ["single steps", () => field(4, fill(Buffer.concat([tag(4, VARINT), varint(2)])))],
    ["single doubles", () => field(4, fill(Buffer.concat([tag(6, FIXED64), double(1)])))],
    ["single nanos", () => field(4, fill(Buffer.concat([tag(10, VARINT), varint(2)])))],
    ["packed integers", () => field(4, varintField(3, 2), field(7, fill(Buffer.from([2]))))],
    ["packed bools", () => field(4, varintField(3, 3), field(8, fill(Buffer.from([1]))))],
    ["empty texts", () => field(4, varintField(3, 4), fill(field(9)))],
    ["lost ranges", () => fill(field(8))],
    ["params", () => fillNumbered(field(5, field(1, "00000000")))],
    ["tags", () => fillNumbered(field(6, field(1, "00000000")))],
    ["labels", () => field(4, fillNumbered(field(2, field(1, "00000000"))))],
    ["groups of lines", () => fill(field(11))],
    ["lines", () => field(11, fill(field(5)))],
    ["lines in many groups", () => fill(field(11, field(5, "x")))],
    ["packed times of lines", () => field(11, field(4, fill(Buffer.from([2]))))],
    ["single times of lines", () => field(11, fill(Buffer.concat([tag(4, VARINT), varint(2)])))],
    ["artifacts", () => fill(field(12))],
    ["content", () => fill(field(12, field(5, Buffer.alloc(200 << 10))))],
    ["metadata", () => field(12, fillNumbered(field(7, field(1, "00000000"))))],
  ];

  it.each(floods)("W3 a message full of %s is refused before the memory is spent", (_, make) => {
    const bytes = Buffer.concat([RUN, make()]);
    const before = memoryUsed();
    const error = refusal(bytes);
    const spent = memoryUsed() - before;
    expect(["LIMIT_EXCEEDED", "COLUMNS_UNEVEN"]).toContain(error.reason);
    expect(spent).toBeLessThan(128 << 20);
  });

  it("W3 any number of empty pieces counts as none", () => {
    const pieces = field(4, field(1, "k"), field(6, double(1)), Buffer.alloc(1 << 20, field(4)));
    expect(decodeEnvelope(Buffer.concat([RUN, pieces])).series[0]!.points.steps).toBeUndefined();
  });

  it("L9, W3 one line, one stream and one content have limits", () => {
    const line = Buffer.alloc(limits.logLineBytesMax, "x");
    expect(decodeEnvelope(Buffer.concat([RUN, field(11, field(5, line))])).log![0]!.text).toHaveLength(
      line.length,
    );
    const content = Buffer.alloc(limits.artifactInlineBytesMax);
    const kept = decodeEnvelope(Buffer.concat([RUN, field(12, field(5, content))])).artifacts![0]!.content!;
    expect(kept).toHaveLength(content.length);
    // It must not keep the whole message in memory.
    expect(kept.buffer.byteLength).toBe(content.length);
    for (const one of [field(11, field(5, line, "x")), field(12, field(5, content, "x"))]) {
      expect(refusal(Buffer.concat([RUN, one]))).toMatchObject({ reason: "LIMIT_EXCEEDED" });
    }
  });

  it("W3 points are counted over all series of an envelope", () => {
    const half = field(4, field(1, "k"), field(6, Buffer.alloc((envelopePointsMax / 2) * 8)));
    expect(decodeEnvelope(Buffer.concat([RUN, half, half])).series).toHaveLength(2);
    const one = field(4, field(1, "k"), field(6, double(1)));
    expect(refusal(Buffer.concat([RUN, half, half, one])).message).toBe(
      `cannot accept points in one envelope: ${envelopePointsMax + 1} are more than ${envelopePointsMax}`,
    );
  });
});

function memoryUsed(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
