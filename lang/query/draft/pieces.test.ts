import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { piecesOf } from "./pieces.ts";
import { arbitraryText } from "../testing/arbitrary-text.ts";

describe("the pieces of a query", () => {
  it("Z6 keep every typed character of a broken query", () => {
    fc.assert(
      fc.property(arbitraryText(), (query) => {
        expect(
          piecesOf(query)
            .map(({ text }) => text)
            .join(""),
        ).toBe(query);
      }),
    );
  });

  it.each([
    ['params.lr <= 1e-3 and name = "x"', "field operator number keyword field operator text"],
    ["STATUS IN ('a', `b`)", "field keyword operator text operator text operator"],
    ["started > now-7d", "field operator keyword operator number"],
    ["params params. metrics.`x", "field field field"],
    ['tags.a = "open', "field operator text"],
    ["foo foo.bar 💥 & 12x", "other other other other number"],
  ])("Z6 %s is %s", (query, kinds) => {
    const shown = piecesOf(query).filter(({ kind }) => kind !== "space");
    expect(shown.map(({ kind }) => kind).join(" ")).toBe(kinds);
  });
});
