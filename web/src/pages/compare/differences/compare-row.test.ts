import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { ComparedRowSchema, type ComparedRow } from "#proto/cairn/v1/explore_pb.ts";
import { textsOf } from "#sdk/comparison.ts";
import { isColoured, isRespelt } from "./compare-row.ts";

function row(...values: string[]): ComparedRow {
  const texts = [...new Set(values)];
  return create(ComparedRowSchema, {
    texts,
    text: values.map((value) => texts.indexOf(value) + 1),
    meaning: values.map((value) => texts.indexOf(value)),
  });
}

it("Z57 has colours only where they are informative", () => {
  expect(isColoured(row("a", "b"))).toBe(false);
  expect(isColoured(row("a", "b", "a"))).toBe(true);
  expect(isColoured(row("a", "a", "a"))).toBe(false);
  expect(isColoured(row("1", "2", "3", "4"))).toBe(false);
  expect(isColoured(row(...Array.from({ length: 24 }, (_, i) => String(i >> 1))))).toBe(false);
});

it("Z56, Z57: marks equal values that are written differently, and has the value of each run", () => {
  const same = create(ComparedRowSchema, { texts: ["1", "1.0"], text: [1, 2, 0], meaning: [0, 0, 0] });
  expect(textsOf(same)).toEqual(["1", "1.0", undefined]);
  expect([isRespelt(same), isRespelt(row("a", "b")), isRespelt(row("a", "a"))]).toEqual([true, false, false]);
});
