import { describe, expect, it } from "vitest";
import { fieldText, parseField, scanQuery, splitList } from "./fields.ts";

describe("fields", () => {
  it.each([
    ["name", { of: "run", name: "name" }],
    ["params.optim.lr", { of: "params", key: "optim.lr" }],
    ['params."learning rate"', { of: "params", key: "learning rate" }],
    ["tags.`a b`", { of: "tags", key: "a b" }],
    ["metrics.val/acc", { of: "metrics", key: "val/acc", stat: "last" }],
    ["metrics.val_acc.max", { of: "metrics", key: "val_acc", stat: "max" }],
    ['metrics.top."max"', { of: "metrics", key: "top.max", stat: "last" }],
    ["metrics.max", { of: "metrics", key: "max", stat: "last" }],
  ])("T21 reads the column %s", (text, field) => {
    expect(parseField(text)).toEqual(field);
  });

  it.each(["", "lr", "params", "params.", "metrics..max", "tags.a b", 'params."x', "name.x"])(
    "T21 refuses the column %j",
    (text) => {
      expect(() => parseField(text)).toThrow(/is no column/);
    },
  );

  it.each(["params.a.b", 'tags."a b"', "metrics.loss.min", 'metrics.top."max".last', 'metrics."max".last'])(
    "T21 writes %s as the server reads it",
    (text) => {
      expect(fieldText(parseField(text))).toBe(text);
    },
  );

  it("T21 splits a list at commas outside quotes", () => {
    expect(splitList('name, params."a,b",metrics.`c,d`.max,')).toEqual([
      "name",
      'params."a,b"',
      "metrics.`c,d`.max",
    ]);
  });
});

describe("scanQuery", () => {
  it("T20 finds what a query asks about, and not what stands in texts", () => {
    const { fields, hasOrder } = scanQuery(
      `metrics.val/acc.max > 0.9 and params."a b" = "params.no" and not tags.team in ('tags.no', \`metrics.no\`) or params."a b" = 1`,
    );
    expect(fields.map(fieldText)).toEqual(["metrics.val/acc.max", 'params."a b"', "tags.team"]);
    expect(hasOrder).toBe(false);
  });

  it.each([
    ["order by name", true],
    ["name = 'x' ORDER  BY started", true],
    ["name = 'order by'", false],
    ["params.order = 1", false],
    ["order", false],
    ['"', false],
  ])("T21 knows whether %j has an order", (query, hasOrder) => {
    expect(scanQuery(query).hasOrder).toBe(hasOrder);
  });
});
