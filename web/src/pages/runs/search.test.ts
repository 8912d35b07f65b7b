import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readRunsSearch } from "./search.ts";

describe("the address of the runs page", () => {
  it("Z3 values that were read are read the same again", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom("q", "cols", "pin", "w", "group", "sel", "hide", "split", "charts"),
          fc.anything(),
        ),
        (given) => {
          const once = readRunsSearch(given);
          expect(readRunsSearch({ ...once })).toEqual(once);
        },
      ),
    );
  });

  it("Z3 invalid values are ignored and everything has a limit", () => {
    const ids = Array.from({ length: 5_000 }, (_, i) => `run-${i}`);
    const read = readRunsSearch({
      q: { $: 1 },
      cols: ["name", "name", 7, null, "x".repeat(9_999)],
      sel: ids,
      w: { name: 1e9, status: -5, duration: "wide" },
      split: "70",
      charts: ["no"],
      other: 1,
    });
    expect(read).toEqual({
      cols: ["name", "7"],
      sel: ids.slice(0, 50),
      w: { name: 900, status: 48 },
      split: 70,
    });
  });

  it("Z3 a query that looks like JSON is still the text that was typed", () => {
    expect(readRunsSearch({ q: 7 })).toEqual({ q: "7" });
    expect(readRunsSearch({ q: "  " })).toEqual({});
  });
});
