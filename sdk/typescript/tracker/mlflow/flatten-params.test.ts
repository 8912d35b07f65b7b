import { describe, expect, it } from "vitest";
import { flattenParams } from "./flatten-params.ts";

const flat = (config: unknown, key?: string) => Object.fromEntries(flattenParams(config, key));

describe("flat params", () => {
  it("X32 nest with dots, and number the items of lists that hold more than plain values", () => {
    expect(
      flat({
        optim: { name: "adam", betas: [0.9, 0.999], sched: { gamma: 1 } },
        stages: [{ lr: 1 }, [{ deep: true }], "plain"],
        grid: [[1, 2], []],
        map: new Map([["k", new Set([1, 2])]]),
        typed: new Float64Array([0.5, 2]),
      }),
    ).toEqual({
      "optim.name": "adam",
      "optim.betas": "[0.9, 0.999]",
      "optim.sched.gamma": "1",
      "stages._0.lr": "1",
      "stages._1._0.deep": "true",
      "stages._2": "plain",
      "grid._0": "[1, 2]",
      "grid._1": "[]",
      "map.k": "[1, 2]",
      typed: "[0.5, 2]",
    });
  });

  it("X32 keep empty lists and objects, null, dates and numbers of any size as text", () => {
    expect(
      flat({
        a: [],
        b: {},
        c: null,
        d: new Date(0),
        e: 2n ** 70n,
        f: NaN,
        g: undefined,
        h: "",
        i: [null, "x"],
      }),
    ).toEqual({
      a: "[]",
      b: "{}",
      c: "null",
      d: "1970-01-01T00:00:00.000Z",
      e: "1180591620717411303424",
      f: "NaN",
      h: "",
      i: '[null, "x"]',
    });
  });

  it("X32 begin with the key that is given", () => {
    expect(flat({ a: 1 }, "cfg")).toEqual({ "cfg.a": "1" });
    expect(flat([{ a: 1 }], "cfg")).toEqual({ "cfg._0.a": "1" });
    expect(flat([1, 2], "cfg")).toEqual({ cfg: "[1, 2]" });
    expect(flat({})).toEqual({});
  });

  it("X32 are refused for values that are not a configuration, and for one that contains itself", () => {
    expect(() => flat(5)).toThrow("cannot log params of a number");
    expect(() => flat([1, 2])).toThrow("give an object");
    const circle: Record<string, unknown> = {};
    circle["me"] = circle;
    expect(() => flat(circle)).toThrow("nested deeper than 64");
  });
});
