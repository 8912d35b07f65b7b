import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fieldText, METRIC_STATS, parseField, searchColumn, type Field } from "./field.ts";

const key = fc
  .array(fc.string({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join("."))
  // A lone surrogate is no text that a server would have.
  .filter((text) => text.isWellFormed());
const field: fc.Arbitrary<Field> = fc.oneof(
  fc.record({ of: fc.constantFrom("params" as const, "tags" as const, "line" as const), key }),
  fc.record({ of: fc.constant("metrics" as const), key, stat: fc.constantFrom(...METRIC_STATS) }),
);

describe("fields", () => {
  it("Z1 a field is one text that reads back as itself, whatever its key holds", () => {
    fc.assert(
      fc.property(field, (one) => {
        expect(parseField(fieldText(one))).toEqual(one);
      }),
    );
  });

  it.each([
    ["params.learning rate", undefined],
    ['params."learning rate"', { of: "params", key: "learning rate" }],
    ["params.`a b`.c", { of: "params", key: "a b.c" }],
    ["metrics.loss", { of: "metrics", key: "loss", stat: "last" }],
    ["metrics.loss.min", { of: "metrics", key: "loss", stat: "min" }],
    ['metrics.top."max"', { of: "metrics", key: "top.max", stat: "last" }],
    ["metrics.max", { of: "metrics", key: "max", stat: "last" }],
    ["name", { of: "run", name: "name" }],
    ["nonsense", undefined],
    ["provenance.commit", { of: "provenance", name: "commit" }],
    ["provenance.secrets", undefined],
    ["params.", undefined],
    ["", undefined],
  ])("Z1 %s is read as the query language reads it", (text, expected) => {
    expect(parseField(text)).toEqual(expected);
  });

  it("Z1 only what does not come by itself is asked for", () => {
    expect(
      ["name", "alias", "line.loss", "metrics.loss", "provenance.commit"].map((text) =>
        searchColumn(parseField(text)!),
      ),
    ).toEqual([undefined, "aliases", undefined, "metrics.loss.last", "provenance"]);
  });
});
