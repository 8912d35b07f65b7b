import { describe, expect, it } from "vitest";
import { mayMove, sameField, splitOrder, withNextOrder } from "./query-order.ts";

describe("the order of a query", () => {
  it.each([
    ["", "", []],
    ["params.lr > 1", "params.lr > 1", []],
    ["order by name", "", [{ field: "name", descending: false }]],
    [
      "a = 1 ORDER  BY b desc , c asc",
      "a = 1",
      [
        { field: "b", descending: true },
        { field: "c", descending: false },
      ],
    ],
    ['name = "order by x"', 'name = "order by x"', []],
    [
      "name = 'it\\'s order by' order by id",
      "name = 'it\\'s order by'",
      [{ field: "id", descending: false }],
    ],
    ['order by params."a, b" desc', "", [{ field: 'params."a, b"', descending: true }]],
  ])("Z2 %j is a condition and an order", (query, condition, orders) => {
    expect(splitOrder(query)).toEqual({ condition, orders });
  });

  it("Z2 clicks on a header go up, down and back, and leave the condition as it was typed", () => {
    const typed = 'status  =  "failed"';
    const up = withNextOrder(typed, "params.lr");
    const down = withNextOrder(up, "params.lr");
    expect([up, down, withNextOrder(down, "params.lr")]).toEqual([
      `${typed} order by params.lr`,
      `${typed} order by params.lr desc`,
      typed,
    ]);
  });

  it("Z2 another header replaces the order, or with shift comes after it", () => {
    expect(withNextOrder("order by a", "b")).toBe("order by b");
    expect(withNextOrder("order by a", "b", { add: true })).toBe("order by a, b");
    expect(withNextOrder("order by a, b", "a", { add: true })).toBe("order by a desc, b");
    expect(withNextOrder("order by a desc, b", "a", { add: true })).toBe("order by b");
  });

  it("Z2 a metric where more is better goes down first, and loss is loss.last", () => {
    const down = withNextOrder("", "metrics.acc.max", { descendingFirst: true });
    expect(down).toBe("order by metrics.acc.max desc");
    expect(withNextOrder(down, "metrics.acc.max", { descendingFirst: true })).toBe(
      "order by metrics.acc.max",
    );
    expect(withNextOrder("order by metrics.loss", "metrics.loss.last")).toBe(
      "order by metrics.loss.last desc",
    );
  });

  it("Z2 a column is that of the order however its key is quoted", () => {
    expect(sameField('metrics."val/wer".min', "metrics.val/wer.min")).toBe(true);
    expect(sameField('metrics."val/wer"', "metrics.val/wer.last")).toBe(true);
    expect(sameField("params.`a b`", 'params."a b"')).toBe(true);
    expect(sameField('params."a.b"', "params.c")).toBe(false);
    expect(sameField("no field", "no field")).toBe(true);
  });

  it("Z9 only a query about what changes can move a run", () => {
    expect(mayMove('namespace under "a" order by created')).toBe(false);
    expect(mayMove("order by metrics.loss.min")).toBe(true);
    expect(mayMove('status = "running"')).toBe(true);
  });
});
