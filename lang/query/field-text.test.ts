import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { Field } from "./ast.ts";
import {
  findField,
  findPath,
  mentionedFields,
  printField,
  printPath,
  readField,
  splitList,
} from "./field-text.ts";
import { METRIC_STATS, RUN_FIELDS } from "./fields.ts";
import { arbitraryText } from "./testing/arbitrary-text.ts";

const segment = fc.oneof(
  fc.constantFrom(...METRIC_STATS, "MIN", "", "a b", '"', "`", "\\", "'", ",", "val/acc", "ü", "😀", "in"),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);
const key = fc
  .array(segment, { minLength: 1, maxLength: 4 })
  .map((segments) => segments.join("."))
  .filter((text) => text.isWellFormed());
const field: fc.Arbitrary<Field> = fc.oneof(
  fc.record({ of: fc.constant("run" as const), name: fc.constantFrom(...RUN_FIELDS) }),
  fc.record({ of: fc.constantFrom("param" as const, "tag" as const), key }),
  fc.record({ of: fc.constant("metric" as const), key, stat: fc.constantFrom(...METRIC_STATS) }),
);

describe("a field as text", () => {
  it("Z1 reads back as the same field, whatever its key holds", () => {
    fc.assert(
      fc.property(field, (one) => {
        expect(findField(printField(one))).toEqual(one);
        expect(readField(printField(one))).toEqual(one);
      }),
    );
  });

  test("is found exactly where it can be parsed", () => {
    fc.assert(
      fc.property(arbitraryText(), (text) => {
        const found = findField(text);
        if (found === undefined) expect(() => readField(text)).toThrow("cannot parse field");
        else expect(readField(text)).toEqual(found);
      }),
    );
  });

  it.each([
    ["name", { of: "run", name: "name" }],
    [" Name ", { of: "run", name: "name" }],
    ["params.optim.lr", { of: "param", key: "optim.lr" }],
    ['params."learning rate"', { of: "param", key: "learning rate" }],
    ["tags.`a b`.c", { of: "tag", key: "a b.c" }],
    ["metrics.val/acc", { of: "metric", key: "val/acc", stat: "last" }],
    ["metrics.val_acc.max", { of: "metric", key: "val_acc", stat: "max" }],
    ["metrics.loss.MIN", { of: "metric", key: "loss.MIN", stat: "last" }],
    ['metrics.top."max"', { of: "metric", key: "top.max", stat: "last" }],
    ["metrics.max", { of: "metric", key: "max", stat: "last" }],
  ])("T21, Z1: %s is read as in a query", (text, expected) => {
    expect(readField(text)).toEqual(expected);
  });

  it.each([
    ["", "expected a field"],
    ["nam", 'unknown field "nam" (did you mean name?)'],
    ["param.lr", 'unknown field "param" (did you mean params?)'],
    ["params", "params needs a key"],
    ["params.", "expected a key"],
    ["metrics..max", "expected a key"],
    ["tags.a b", 'expected the end, found "b"'],
    ['params."x', 'expected a closing "'],
    ["name.x", "name has no parts"],
  ])("T21, Z1: %j is refused with the message of the parser", (text, problem) => {
    expect(findField(text)).toBeUndefined();
    expect(() => readField(text)).toThrow(`cannot parse field: ${problem}`);
  });

  it("Z1 a page may have its own words with keys", () => {
    fc.assert(
      fc.property(key, (one) => {
        expect(findPath(printPath("line", one))).toEqual({ root: "line", key: one });
      }),
    );
    expect(["line", "line.a b", "line.", ""].map(findPath)).toEqual(Array(4).fill(undefined));
  });
});

describe("several fields", () => {
  it("T20 of a query are found once each, and none in its texts", () => {
    const query = `metrics.val/acc.max > 0.9 and params."a b" = "params.no" and not tags.team in ('tags.no', \`metrics.no\`)
      or params.\`a b\` = 1 or nonsense = 1 order by METRICS.loss.MIN, Name`;
    expect(mentionedFields(query).map(printField)).toEqual([
      "metrics.val/acc.max",
      'params."a b"',
      "tags.team",
      "metrics.loss.MIN.last",
      "name",
    ]);
  });

  it("T21 of a list are split at commas outside quotes", () => {
    expect(splitList(' name, params."a,b" ,,metrics.`c,d`.max,started:desc,')).toEqual([
      "name",
      'params."a,b"',
      "metrics.`c,d`.max",
      "started:desc",
    ]);
    expect(splitList(" , ")).toEqual([]);
  });
});
