import { describe, expect, it } from "vitest";
import { LoginLimits } from "./login-limits.ts";

const AT = "192.0.2.1";
const ADA = { name: "ada", address: AT, exists: true };

/** How many attempts are accepted at one moment. */
function passing(limits: LoginLimits, asked: typeof ADA, tries: number, nowUs = 0): number {
  let passed = 0;
  for (let i = 0; i < tries; i++) {
    try {
      limits.begin(asked, nowUs);
      passed++;
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: "exhausted", reason: "LOGIN_LIMIT" });
    }
  }
  return passed;
}

describe("people who share an address", () => {
  it("A77 wrong passwords for a name do not lock out its user at an address it has signed in from", () => {
    const limits = new LoginLimits();
    limits.begin(ADA, 0).succeed();
    expect(passing(limits, ADA, 10)).toBe(10);
    const right = limits.begin(ADA, 0);
    expect(right.isKnown).toBe(true);
    right.succeed();
  });

  it("A77 nor do those before the first sign-in count afterwards", () => {
    const limits = new LoginLimits();
    expect(passing(limits, ADA, 4)).toBe(4);
    limits.begin(ADA, 0).succeed();
    expect(passing(limits, ADA, 10)).toBe(10);
  });

  it("A77 a known name can be guessed at from there no more than ten times a minute", () => {
    const limits = new LoginLimits();
    limits.begin(ADA, 0).succeed();
    expect(passing(limits, ADA, 100)).toBe(30);
    let passed = 0;
    for (let second = 1; second <= 600; second++) passed += passing(limits, ADA, 3, second * 1e6);
    expect(passed).toBeGreaterThan(90);
    expect(passed).toBeLessThanOrEqual(100);
  });

  it("A76 made-up names from the address do not lock out a name that has signed in from there", () => {
    const limits = new LoginLimits();
    limits.begin(ADA, 0).succeed();
    let passed = 0;
    for (let i = 0; i < 100; i++) {
      passed += passing(limits, { name: `made-up-${i}`, address: AT, exists: false }, 1);
    }
    expect(passed).toBe(30);
    limits.begin(ADA, 0).succeed();
  });

  it("A35 an unknown pair has five tries", () => {
    expect(passing(new LoginLimits(), ADA, 10)).toBe(5);
  });
});
