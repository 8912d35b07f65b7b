import { describe, expect, it } from "vitest";

import { isOlder, NODE_MIN } from "./node-version.js";

describe("versions of Node", () => {
  it.each([
    ["24.14.0", true],
    ["24.14.1", false],
    ["24.9.9", true],
    ["22.99.0", true],
    ["8.17.0", true],
    ["24.15.0", false],
    ["26.0.0", false],
  ])("T202 %s is too old: %s", (version, isTooOld) => {
    expect(isOlder(version, "24.14.1")).toBe(isTooOld);
    expect(NODE_MIN).toBe("24.14.1");
  });
});
