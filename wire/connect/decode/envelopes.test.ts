import fc from "fast-check";
import { expect, it } from "vitest";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { decodeEnvelope } from "./envelope.ts";
import { decodeEnvelopes } from "./envelopes.ts";
import { envelopes } from "../testing/envelope-arbitrary.ts";
import { field, FIXED64, tag, VARINT, varint, varintField } from "../testing/protobuf.ts";
import { spellPlainly } from "../testing/spell-envelope.ts";

const RUN = field(1, field(1, "0123456789abcdef0123456789abcdef"));

function times(count: number, piece: Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => piece));
}

/** What `decodeEnvelope` returns or throws. */
function alone(bytes: Uint8Array): unknown {
  try {
    return decodeEnvelope(bytes);
  } catch (thrown) {
    return thrown;
  }
}

it("W18 many envelopes are decoded like single ones, and an unreadable one is an error in its place", () => {
  const cut = fc.tuple(envelopes.map(spellPlainly), fc.nat()).map(([bytes, n]) => {
    return n % 2 === 0 ? bytes : bytes.subarray(0, n % (bytes.length + 1));
  });
  fc.assert(
    fc.property(fc.array(cut, { maxLength: 5 }), (all) => {
      const decoded = decodeEnvelopes(Buffer.concat(all.flatMap((one) => [field(1, one), field(9, one)])));
      expect(decoded).toEqual(all.map(alone));
    }),
  );
});

it("W18 W3 the decoded size of many is bounded before all of them are decoded", () => {
  const points = Buffer.concat([
    RUN,
    field(4, field(1, "k"), varintField(3, 3), field(8, times(limits.envelopePointsMax, varint(1)))),
  ]);
  const labels = Buffer.concat(
    Array.from({ length: limits.labelsMax }, (_, i) => field(2, field(1, `l${i}`))),
  );
  const objects: Record<string, Buffer> = {
    series: times(1_000, field(4)),
    labels: times(100, field(4, field(1, "k"), labels)),
    lost: times(1_000, field(8, field(1))),
  };
  expect(() => decodeEnvelopes(times(limits.callEnvelopesMax + 1, field(1)))).toThrow(
    "envelopes in one call",
  );
  expect(decodeEnvelopes(times(limits.callEnvelopesMax, field(1)))).toHaveLength(limits.callEnvelopesMax);
  expect(() => decodeEnvelopes(times(6, field(1, points)))).toThrow("points in one call");
  for (const [what, of] of Object.entries(objects)) {
    const many = times(limits.callEnvelopesMax, field(1, RUN, of));
    expect(() => decodeEnvelopes(many), what).toThrow("objects in one message");
  }
  for (const broken of [tag(1, VARINT), tag(1, FIXED64), field(1, RUN).subarray(0, -1)]) {
    expect(() => decodeEnvelopes(broken)).toThrow(CairnError);
  }
});
