import { describe, expect, it } from "vitest";
import { isMine, withMine } from "./my-runs.ts";

describe("the switch to one's own runs", () => {
  it("Z211 is part of the query, and the rest of it stays as it was typed", () => {
    const cases = [
      ["", "creator = me"],
      ["order by created desc", "creator = me order by created desc"],
      ['status = "failed"', 'status = "failed" and creator = me'],
      ["a = 1 or b = 2 order by x", "(a = 1 or b = 2) and creator = me order by x"],
      ["params.x = 1 and created > now-7d", "params.x = 1 and created > now-7d and creator = me"],
      // Half typed.
      ["params.x = ", "params.x = and creator = me"],
    ] as const;
    for (const [without, mine] of cases) {
      expect(isMine(without), without).toBe(false);
      expect(withMine(without, true)).toBe(mine);
      expect(isMine(mine), mine).toBe(true);
      expect(withMine(mine, true)).toBe(mine);
      expect(withMine(without, false)).toBe(without);
      const back = withMine(mine, false);
      expect(isMine(back)).toBe(false);
      if (!without.includes(" or ")) expect(back).toBe(without.trim());
    }
    expect(withMine("(a = 1 or b = 2) and creator = me order by x", false)).toBe(
      "(a = 1 or b = 2) order by x",
    );
  });

  it("Z211 finds the condition wherever it was typed, and not where it is only one of several choices", () => {
    expect(withMine("creator == me and a = 1", false)).toBe("a = 1");
    expect(withMine("a = 1 AND Creator = ME and b = 2", false)).toBe("a = 1 and b = 2");
    for (const query of [
      "creator = me or a = 1",
      "not creator = me",
      "creator != me",
      'creator = "me"',
      "(creator = me or a = 1)",
      "creator = mei",
    ]) {
      expect(isMine(query), query).toBe(false);
    }
  });
});
