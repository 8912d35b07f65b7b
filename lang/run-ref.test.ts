import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newRunId } from "#base/ids.ts";
import { parseRunPath } from "./run-ref.ts";

const ID = "0123456789abcdef0123456789abcdef";

describe("parseRunPath", () => {
  it("splits the id from the namespace", () => {
    expect(parseRunPath(`a/b/${ID}`)).toEqual({ by: "path", namespace: "a/b", id: ID });
    expect(parseRunPath(ID)).toEqual({ by: "id", id: ID });
  });

  it.each([
    "",
    "a",
    "a/b",
    `${ID}/a`,
    `/${ID}`,
    `a//${ID}`,
    `a/${ID}/`,
    `a/../${ID}`,
    `a/${ID.toUpperCase()}`,
  ])("refuses %j", (text) => {
    expect(() => parseRunPath(text)).toThrow(
      expect.objectContaining({ code: "invalid", hint: expect.any(String) }),
    );
  });

  it("finds every namespace and id again", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("a", "a/b", "é/Ü x"),
        fc.integer({ min: 0, max: 2 ** 48 - 1 }),
        (namespace, time) => {
          const id = newRunId(time);
          expect(parseRunPath(`${namespace}/${id}`)).toEqual({ by: "path", namespace, id });
        },
      ),
    );
  });
});
