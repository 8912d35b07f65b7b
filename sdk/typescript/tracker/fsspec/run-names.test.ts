import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { idOf, nameForWriting, nameOf } from "./run-names.ts";

describe("names of runs", () => {
  it.each([
    ["f", "MY======"],
    ["fo", "MZXQ===="],
    ["foo", "MZXW6==="],
    ["foob", "MZXW6YQ="],
    ["fooba", "MZXW6YTB"],
    ["foobar", "MZXW6YTBOI======"],
  ])("X20 %s is %s, as RFC 4648 has it", (id, name) => {
    expect(nameOf(id)).toBe(name);
    expect(idOf(name)).toBe(id);
  });

  it("X20 every id comes back from its name", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (id) => {
        expect(idOf(nameOf(id))).toBe(id);
      }),
    );
  });

  it.each([
    "",
    "=",
    "========",
    "my======",
    "MY=====",
    "MY",
    "M=======",
    "MZ======",
    "MY=A====",
    "MY======MY======",
    "77777777",
    "README.md",
    "M1======",
  ])("X23 %j is not the name of a run", (name) => {
    expect(idOf(name)).toBeUndefined();
  });

  it("X24 refuses ids that a directory of TorchX cannot hold", () => {
    expect(() => nameForWriting("run id", "")).toThrow('cannot use run id "": it is empty');
    expect(() => nameForWriting("source id", "jöb")).toThrow(
      'cannot use source id "jöb": it has characters beyond ASCII',
    );
    expect(() => nameForWriting("run id", "x".repeat(156))).toThrow(
      "it has 156 characters, and a file name has room for 155",
    );
    expect(nameForWriting("run id", "x".repeat(155))).toHaveLength(248);
  });
});
