import { expect, it } from "vitest";
import { readAccessSearch } from "./search.ts";

it("Z79 the address of the access page ignores invalid values", () => {
  expect(readAccessSearch({ tab: "people", scope: "a/b", of: "ada" })).toEqual({
    tab: "people",
    scope: "a/b",
    of: "ada",
  });
  expect(readAccessSearch({ tab: "nonsense", scope: 7, of: "" })).toEqual({});
});
