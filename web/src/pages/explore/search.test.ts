import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readExploreSearch, withPatch } from "./search.ts";

describe("the address of the explore page", () => {
  it("Z64 chosen values are read back the same", () => {
    const search = {
      q: 'status = "finished"',
      tab: "scatter" as const,
      objective: "metrics.val/wer.min",
      goal: "max" as const,
      axes: ["params.lr", 'params."a b"', "metrics.val/wer.min"],
      scale: { "params.lr": "log" as const },
      brush: { "params.lr": { from: 1e-7, to: 0.25 }, "tags.team": { of: ['"asr"'], none: true as const } },
      x: "params.lr",
      y: "metrics.loss.last",
      colour: "none",
      goalx: "none" as const,
      metric: "12",
      cell: "strips" as const,
      table: true as const,
    };
    expect(readExploreSearch(JSON.parse(JSON.stringify(search)))).toEqual(search);
  });

  it("Z64 invalid values are ignored, and values that were read are read the same again", () => {
    const anything = fc.dictionary(
      fc.constantFrom(
        "q",
        "tab",
        "axes",
        "brush",
        "scale",
        "x",
        "objective",
        "goal",
        "metric",
        "table",
        "cell",
      ),
      fc.oneof(
        fc.anything({ withNullPrototype: true }),
        fc.constantFrom("params.lr", "none", "metrics.loss", "params.", "log", ["params.lr", "params.lr", 3]),
        fc.constant({ "params.lr": { from: "1", to: Number.NaN, of: [1, "2"], none: 1 }, x: { from: 1 } }),
      ),
    );
    fc.assert(
      fc.property(anything, (given) => {
        const read = readExploreSearch(given);
        expect(readExploreSearch(read as Record<string, unknown>)).toEqual(read);
        for (const brush of Object.values(read.brush ?? {})) {
          for (const end of [brush.from, brush.to]) if (end !== undefined) expect(end).toBeTypeOf("number");
        }
      }),
    );
    expect(readExploreSearch({ brush: { "params.lr": { of: [1, "2"], from: "1" } } }).brush).toEqual({
      "params.lr": { of: ["2"] },
    });
    expect(
      readExploreSearch({ tab: "nothing", axes: ["", "lr", "params.lr"], objective: "params.lr" }),
    ).toEqual({
      axes: ["params.lr"],
    });
  });

  it("Z64 empty values are removed from the address", () => {
    expect(withPatch({ q: "a", axes: ["name"], brush: {} }, { q: "", axes: [] })).toEqual({});
  });
});
