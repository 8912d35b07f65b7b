import { expect, it } from "vitest";
import { readShortId } from "./short-id.ts";

it("Z86 the beginning of an id is distinguished from a name and from a whole id", () => {
  expect(readShortId("01a1b2c3d4e5f607")).toBe("01a1b2c3d4e5f607");
  expect(readShortId(" 01A1B2 ")).toBe("01a1b2");
  expect(readShortId("01a1b")).toBeUndefined();
  expect(readShortId("0".repeat(32))).toBeUndefined();
  expect(readShortId('01a1b2" or name like "%')).toBeUndefined();
  expect(readShortId("decode")).toBeUndefined();
});
