import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { joinOrder, splitOrder } from "./order.ts";
import { parseQuery } from "../parser.ts";
import { printQuery } from "../print.ts";
import { arbitraryText } from "../testing/arbitrary-text.ts";
import { arbitraryQuery } from "../testing/arbitrary.ts";

const NAME = { of: "run", name: "name" };

describe("the order of a query", () => {
  it.each([
    ["", "", []],
    ["params.lr > 1", "params.lr > 1", []],
    ["order", "order", []],
    ["order by", "", []],
    ["order by name", "", [{ text: "name", field: NAME, descending: false }]],
    [
      "params.a  = 1 ORDER  BY nam desc , name asc,",
      "params.a  = 1",
      [
        { text: "nam", field: undefined, descending: true },
        { text: "name", field: NAME, descending: false },
      ],
    ],
    ['name = "order by x"', 'name = "order by x"', []],
    ["name = 'order by x", "name = 'order by x", []],
    ["params.order by name", "params.order by name", []],
    [
      "name = 'it\\'s order by' order by name",
      "name = 'it\\'s order by'",
      [{ text: "name", field: NAME, descending: false }],
    ],
    [
      'order by params."a, b" desc',
      "",
      [{ text: 'params."a, b"', field: { of: "param", key: "a, b" }, descending: true }],
    ],
    ["order by desc", "", [{ text: "desc", field: undefined, descending: false }]],
  ])("T21, Z2: %j is a condition and an order", (query, condition, orders) => {
    const split = splitOrder(query);
    expect(split).toMatchObject({ condition, orders });
    expect(split.order).toBe(query.slice(condition.length).trim());
  });

  it("Z2 taken off and put on again it is the same query", () => {
    fc.assert(
      fc.property(arbitraryQuery(), (query) => {
        const text = printQuery(query);
        const { condition, orders } = splitOrder(text);
        expect(joinOrder(condition, orders)).toBe(text);
        expect(orders.map(({ field }) => field)).toEqual(query.orderBy.map(({ field }) => field));
        expect(parseQuery(condition, { nowUs: 0 }).orderBy).toEqual([]);
      }),
    );
  });

  it("Z2 no character of a query is lost, however broken it is", () => {
    fc.assert(
      fc.property(arbitraryText(), (text) => {
        const { condition, order } = splitOrder(text);
        expect(`${condition}${order}`.replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""));
      }),
    );
  });
});
