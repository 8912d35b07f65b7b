import { describe, expect, it } from "vitest";
import {
  isOpen,
  readCompareSearch,
  runsOf,
  RUNS_MAX,
  withBase,
  withOpen,
  withoutRun,
  withRun,
} from "./search.ts";

describe("the address of the compare page", () => {
  it("Z55 ignores invalid values", () => {
    expect(
      readCompareSearch({ runs: 7, base: null, tab: "nonsense", stat: {}, step: "x", find: [], open: true }),
    ).toEqual({
      runs: "7",
    });
    expect(
      readCompareSearch({
        runs: " a, b ",
        tab: "media",
        stat: "min",
        step: "40",
        find: "lr",
        open: "params",
      }),
    ).toEqual({
      runs: "a, b",
      tab: "media",
      stat: "min",
      step: 40,
      find: "lr",
      open: "params",
    });
    expect(readCompareSearch({ tab: "differences", stat: "best", step: "" })).toEqual({});
    expect(readCompareSearch({ step: 0, logy: "1", x: "sideways" })).toEqual({ step: 0, logy: true });
  });

  it("Z55 names each run once, the baseline first, and no more than can be shown", () => {
    expect(runsOf({ runs: "a,b,,a, c" })).toEqual({
      ids: ["a", "b", "c"],
      order: ["a", "b", "c"],
      leftOut: 0,
    });
    expect(runsOf({ runs: "a,b,c", base: "c" })).toEqual({
      ids: ["c", "a", "b"],
      order: ["a", "b", "c"],
      leftOut: 0,
    });
    expect(runsOf({ runs: "a,b", base: "gone" }).ids).toEqual(["a", "b"]);
    expect(runsOf({}).ids).toEqual([]);
    const many = Array.from({ length: 5_000 }, (_, i) => `run${i}`);
    const { ids, leftOut } = runsOf({ runs: many.join(",") });
    expect(ids).toEqual(many.slice(0, RUNS_MAX));
    expect(leftOut).toBe(5_000 - RUNS_MAX);
  });

  it("Z55 adds and removes runs and moves the baseline", () => {
    expect(withRun({ runs: "a,b", find: "x" }, "c")).toEqual({ runs: "a,b,c", find: "x" });
    expect(withRun({ runs: "a,b" }, "a")).toEqual({ runs: "a,b" });
    expect(withRun({}, "a")).toEqual({ runs: "a" });
    expect(withoutRun({ runs: "a,b,c", base: "b" }, "b")).toEqual({ runs: "a,c" });
    expect(withoutRun({ runs: "a,b,c", base: "b" }, "a")).toEqual({ runs: "b,c", base: "b" });
    expect(withoutRun({ runs: "a" }, "a")).toEqual({});
    expect(withBase({ runs: "a,b" }, "b")).toEqual({ runs: "a,b", base: "b" });
    expect(withBase({ runs: "a,b", base: "b" }, "a")).toEqual({ runs: "a,b" });
  });

  it("Z55 keeps which parts are unfolded", () => {
    const open = withOpen(withOpen({ runs: "a" }, "params", true), "tags", true);
    expect(open).toEqual({ runs: "a", open: "params,tags" });
    expect(isOpen(open, "tags")).toBe(true);
    expect(isOpen(open, "tag")).toBe(false);
    expect(withOpen(withOpen(open, "params", false), "tags", false)).toEqual({ runs: "a" });
  });
});
