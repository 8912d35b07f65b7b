import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leaves } from "#lang/json/leaves.ts";
import { joinObject } from "#lang/json/object-text.ts";
import { KeyedColumns } from "./keyed-columns.ts";
import { putParams } from "./params.ts";
import { dose } from "../../../tools/dose.ts";

const key = fc.constantFrom(
  "a",
  "b",
  "0",
  "1",
  "a.b",
  "a.0",
  "b.a.0",
  ".",
  "",
  "__proto__",
  "😀",
  "x".repeat(300),
);
const jsonText = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(
      "1",
      "1.0",
      "-0",
      "true",
      "false",
      "null",
      '"text"',
      '"long text with \\"quotes\\" in it"',
      '""',
      "1e400",
    ),
    { weight: 1, arbitrary: fc.constantFrom("NaN", "-Infinity", "9007199254740993") },
    fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
    fc.uniqueArray(fc.tuple(key, tie("value")), { selector: ([name]) => name, maxLength: 3 }).map(joinObject),
  ),
})).value;
const params = fc
  .uniqueArray(fc.tuple(key, jsonText), { selector: ([name]) => name, maxLength: 6 })
  .map(joinObject);

describe("putParams", () => {
  it("puts the leaves that lang/json/leaves.ts defines, and no earlier values of the row", () => {
    fc.assert(
      fc.property(
        fc.array(params, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 0, max: 2 }),
        (texts, rows) => {
          const columns = new KeyedColumns();
          const paths = new Set<string>();
          const now = new Map<number, string>();
          texts.forEach((text, at) => {
            putParams(columns, at % (rows + 1), text);
            now.set(at % (rows + 1), text);
            for (const [path] of leaves(text)) paths.add(path);
          });
          for (const [row, text] of now) {
            const expected = new Map(leaves(text));
            for (const path of paths)
              expect(columns.find(path)?.value(row), path).toBe(expected.get(path) ?? undefined);
          }
          for (const row of now.keys()) columns.delete(row);
          for (const path of paths) expect(columns.find(path), path).toBeUndefined();
        },
      ),
      { numRuns: dose(150, 2_000) },
    );
  });

  it("refuses JSON that is not an object", () => {
    for (const text of ["", "[1]", "1", "null", '"x"', "{", '{"a":1}x']) {
      expect(() => putParams(new KeyedColumns(), 0, text), text).toThrow(
        expect.objectContaining({ code: "corrupt" }),
      );
    }
  });
});
