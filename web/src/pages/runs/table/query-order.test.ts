import { describe, expect, it } from "vitest";
import { splitOrder } from "#lang/query/draft/order.ts";
import { findPageField } from "../../../data/runs/field.ts";
import { isOrderBy, withNextOrder } from "./query-order.ts";

const clicked = (query: string, column: string, options?: Parameters<typeof withNextOrder>[2]) =>
  withNextOrder(query, findPageField(column)!, options);

describe("the order of a query", () => {
  it("Z2 clicks on a header go up, down and back, and leave the condition as it was typed", () => {
    const typed = 'status  =  "failed"';
    const up = clicked(typed, "params.lr");
    const down = clicked(up, "params.lr");
    expect([up, down, clicked(down, "params.lr")]).toEqual([
      `${typed} order by params.lr`,
      `${typed} order by params.lr desc`,
      typed,
    ]);
  });

  it("Z2 another header replaces the order, or with shift comes after it", () => {
    expect(clicked("order by name", "id")).toBe("order by id");
    expect(clicked("order by name", "id", { add: true })).toBe("order by name, id");
    expect(clicked("order by name, id", "name", { add: true })).toBe("order by name desc, id");
    expect(clicked("order by name desc, id", "name", { add: true })).toBe("order by id");
    expect(clicked("order by nonsense", "id", { add: true })).toBe("order by nonsense, id");
  });

  it("Z2 a metric where more is better goes down first, and loss is loss.last", () => {
    const down = clicked("", "metrics.acc.max", { descendingFirst: true });
    expect(down).toBe("order by metrics.acc.max desc");
    expect(clicked(down, "metrics.acc.max", { descendingFirst: true })).toBe("order by metrics.acc.max");
    expect(clicked("order by metrics.loss", "metrics.loss.last")).toBe("order by metrics.loss.last desc");
  });

  it("Z2 a column is found in the order with any quotes of its key", () => {
    const isBy = (order: string, column: string) =>
      isOrderBy(splitOrder(`order by ${order}`).orders[0], findPageField(column)!);
    expect(isBy('metrics."val/wer".min', "metrics.val/wer.min")).toBe(true);
    expect(isBy('metrics."val/wer"', "metrics.val/wer.last")).toBe(true);
    expect(isBy("params.`a b`", 'params."a b"')).toBe(true);
    expect(isBy('params."a.b"', "params.c")).toBe(false);
    expect(isBy("nonsense", "params.c")).toBe(false);
  });
});
