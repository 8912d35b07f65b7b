import fc from "fast-check";
import { expect, test } from "vitest";
import { ByteCollector } from "#wire/kit/byte-collector.ts";

test("pieces come out in order, and the collector can be used again", () => {
  const collector = new ByteCollector();
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 9_000 }), { maxLength: 8 }), (pieces) => {
      for (const piece of pieces) collector.add(piece);
      expect(collector.length).toBe(pieces.reduce((sum, piece) => sum + piece.length, 0));
      expect(collector.finish().equals(Buffer.concat(pieces))).toBe(true);
      expect(collector.length).toBe(0);
    }),
  );
});

test("a single piece is not copied, and pieces are never written to", () => {
  const collector = new ByteCollector();
  const piece = Buffer.from("only one");
  collector.add(piece);
  expect(collector.finish().buffer).toBe(piece.buffer);

  const roomy = Buffer.alloc(100).subarray(0, 3);
  collector.add(roomy);
  collector.add(Buffer.from("more"));
  collector.finish();
  expect(Buffer.from(roomy.buffer, roomy.byteOffset, 7).toString()).not.toContain("more");
});

test("a million single bytes cost about a million bytes", () => {
  const collector = new ByteCollector();
  const one = Buffer.from([1]);
  for (let index = 0; index < 1_000_000; index += 1) collector.add(one);
  const all = collector.finish();
  expect(all.length).toBe(1_000_000);
  expect(all.buffer.byteLength).toBeLessThan(2_200_000);
});
