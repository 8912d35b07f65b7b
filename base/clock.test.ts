import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { clockFrom, systemClock } from "./clock.ts";

/** Two clocks of one machine: real time passes for both, a setting moves only the wall clock. */
function machine(startUs: number) {
  let realUs = startUs;
  let setUs = 0;
  return {
    pass: (us: number) => (realUs += us),
    set: (byUs: number) => (setUs += byUs),
    wallUs: () => realUs + setUs,
    clock: clockFrom({
      wallMs: () => Math.floor((realUs + setUs) / 1000),
      steadyMs: () => (realUs - startUs) / 1000 + 17.25,
    }),
  };
}

const START_US = 1_700_000_000_000_123;

describe("clockFrom", () => {
  it("counts microseconds within a millisecond", () => {
    const host = machine(START_US);
    const first = host.clock.nowUs();
    host.pass(250);
    expect(host.clock.nowUs() - first).toBe(250);
    host.pass(250);
    expect(host.clock.nowUs() - first).toBe(500);
  });

  it("never runs backwards, is an integer, and is within a millisecond of a clock that is not adjusted", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5_000 })), (passes) => {
        const host = machine(START_US);
        let last = 0;
        for (const us of passes) {
          host.pass(us);
          const now = host.clock.nowUs();
          expect(now).toBeGreaterThanOrEqual(last);
          expect(Number.isSafeInteger(now)).toBe(true);
          expect(Math.abs(now - host.wallUs())).toBeLessThanOrEqual(1000);
          last = now;
        }
      }),
    );
  });

  it("follows a clock that is set forward at once", () => {
    const host = machine(START_US);
    host.clock.nowUs();
    host.set(3_600_000_000);
    expect(Math.abs(host.clock.nowUs() - host.wallUs())).toBeLessThanOrEqual(1000);
  });

  it("does not advance after the clock was set back, until the time has caught up", () => {
    const host = machine(START_US);
    const before = host.clock.nowUs();
    host.set(-10_000_000);
    expect(host.clock.nowUs()).toBe(before);
    host.pass(9_000_000);
    expect(host.clock.nowUs()).toBe(before);
    host.pass(2_000_000);
    const after = host.clock.nowUs();
    expect(after).toBeGreaterThan(before);
    expect(Math.abs(after - host.wallUs())).toBeLessThanOrEqual(1000);
  });

  it("never runs backwards, however the wall clock is changed", () => {
    const event = fc.record({
      pass: fc.integer({ min: 0, max: 10_000_000 }),
      set: fc.integer({ min: -20_000_000, max: 20_000_000 }),
    });
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const host = machine(START_US);
        let last = 0;
        let highest = 0;
        for (const { pass, set } of events) {
          host.pass(pass);
          host.set(set);
          const now = host.clock.nowUs();
          highest = Math.max(highest, host.wallUs());
          expect(now).toBeGreaterThanOrEqual(last);
          expect(now).toBeLessThanOrEqual(highest + 1000);
          expect(now).toBeGreaterThanOrEqual(host.wallUs() - 1000);
          last = now;
        }
      }),
    );
  });
});

describe("systemClock", () => {
  it("is the time of day in microseconds", () => {
    const before = Date.now() * 1000;
    const now = systemClock.nowUs();
    const after = (Date.now() + 1) * 1000;
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(after);
  });

  it("moves within a millisecond", () => {
    const seen = new Set<number>();
    const end = performance.now() + 2_000;
    while (seen.size <= 50 && performance.now() < end) seen.add(systemClock.nowUs() % 1000);
    expect(seen.size).toBeGreaterThan(50);
  });
});
