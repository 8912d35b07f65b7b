import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ServerClock } from "./server-clock.ts";

describe("the clock of the server", () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => void vi.useRealTimers());

  it("Z18 is the browser's while answers do not contradict it", () => {
    const clock = new ServerClock();
    expect(clock.now()).toBe(1_000_000);
    clock.learn(1_000_000, 999_990, 1_000_000);
    // Made at 999.999 s, sent as 999 s.
    clock.learn(999_000, 999_990, 1_000_000);
    clock.learn(Number.NaN, 999_990, 1_000_000);
    expect(clock.now()).toBe(1_000_000);
  });

  it("Z18 is ahead or behind by what answers say, however wrong the browser's is", () => {
    const clock = new ServerClock();
    clock.learn(1_300_000, 999_500, 1_000_000);
    expect(clock.now()).toBe(1_300_000);
    // A slow answer says less than a quick one, and so changes nothing.
    clock.learn(1_300_000, 990_000, 1_000_800);
    expect(clock.now()).toBe(1_300_000);
    clock.learn(700_000, 999_500, 1_000_000);
    expect(clock.now()).toBe(701_500);
  });
});
