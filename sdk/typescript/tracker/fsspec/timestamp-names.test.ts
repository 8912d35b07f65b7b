import { describe, expect, it } from "vitest";
import { compareTimestampNames, isTimestampName, TimestampNames } from "./timestamp-names.ts";

describe("names of entries", () => {
  it("X22 rise, also within one nanosecond and when the clock is set back", () => {
    let wallMs = 1_794_736_707_368;
    let steadyNs = 5_000_000n;
    const names = new TimestampNames(
      () => wallMs,
      () => steadyNs,
    );
    const made = [names.next(), names.next()];
    steadyNs += 250_000n;
    made.push(names.next());
    wallMs -= 3_600_000;
    made.push(names.next());
    wallMs += 7_200_000;
    made.push(names.next());
    expect(made).toEqual([
      "1794736707368000000",
      "1794736707368000001",
      "1794736707368250000",
      "1794736707368250001",
      "1794740307368000000",
    ]);
  });

  it("X22 are near the time of day", () => {
    const before = BigInt(Date.now()) * 1_000_000n;
    const name = BigInt(new TimestampNames().next());
    expect(name >= before && name < before + 10_000_000_000n).toBe(true);
  });

  it("X22 are compared as numbers", () => {
    expect(["10", "9", "0100", "99999999999999999999", "2"].sort(compareTimestampNames)).toEqual([
      "2",
      "9",
      "10",
      "0100",
      "99999999999999999999",
    ]);
    expect(["1", "1.5", "", "-1", "1~", ".1"].map(isTimestampName)).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});
