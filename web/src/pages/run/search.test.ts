import { describe, expect, it } from "vitest";
import { readRunSearch } from "./search.ts";

describe("the address of a run", () => {
  it("Z40 is read back as it was written", () => {
    const search = {
      tab: "logs",
      find: "Error",
      re: true,
      rank: 0,
      stream: "stderr",
      line: 812,
      wrap: true,
    } as const;
    expect(readRunSearch({ ...search })).toEqual(search);
    expect(readRunSearch({ tab: "media", step: -3, artifact: "a/b.png" })).toEqual({
      tab: "media",
      step: -3,
      artifact: "a/b.png",
    });
  });

  it("Z40 ignores invalid values", () => {
    const given = {
      tab: "<script>",
      rank: -1,
      line: 1.5,
      step: "x",
      wrap: "yes",
      find: { a: 1 },
      params: "",
      other: 7,
    };
    expect(readRunSearch(given)).toEqual({});
    expect(readRunSearch({ tab: "overview", rank: "3", params: 42, find: "x".repeat(9_999) })).toEqual({
      rank: 3,
      params: "42",
      find: "x".repeat(2_000),
    });
  });
});
