import { describe, expect, test } from "vitest";
import { compilePattern } from "./pattern.ts";
import { PatternDeadline } from "./pattern-deadline.ts";

const SLOW = expect.objectContaining({ code: "deadline", reason: "SEARCH_SLOW", hint: expect.any(String) });

describe("a deadline for patterns", () => {
  test("S11 lets a usual pattern go over ten thousand names", () => {
    const matches = new PatternDeadline("search runs", 60_000).test(compilePattern("^run-.*9$", "pattern"));
    let found = 0;
    for (let at = 0; at < 10_000; at++) if (matches(`run-with-a-name-${at}`)) found++;
    expect(found).toBe(1_000);
  });

  test("S11 ends one that takes long, also when the time is shared by several", () => {
    const name = "a".repeat(500);
    const deadline = new PatternDeadline("list series", 1);
    const tests = ["[a-z]{0,900}[0-9]$", "(a?){300}b$"].map((text) =>
      deadline.test(compilePattern(text, "p")),
    );
    expect(() => {
      for (let at = 0; at < 1_000_000; at++) tests[at % 2]!(name);
    }).toThrow(SLOW);
    expect(() => {
      for (let at = 0; at < 1_000_000; at++) tests[0]!(name);
    }).toThrow("cannot list series: its patterns took longer than 1 ms");
  });

  test("S11 does not count the time that a busy machine gives to other threads", () => {
    const matches = new PatternDeadline("search runs", 300).test(compilePattern("(a?){300}b$", "p"));
    const begin = performance.now();
    // Waits without computing, like a thread that is not scheduled.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    expect(performance.now() - begin).toBeGreaterThan(400);
    expect(matches("a".repeat(20_000))).toBe(false);
  });

  test("S11 does not begin a match that could not be interrupted in time", () => {
    const matches = new PatternDeadline("search runs", 60_000).test(
      compilePattern("[a-z]{0,900}[0-9]$", "p"),
    );
    expect(matches("a1")).toBe(true);
    expect(() => matches("a".repeat(1 << 20))).toThrow(SLOW);
    expect(
      new PatternDeadline("search runs", 60_000).test(compilePattern("a$", "p"))("a".repeat(1 << 20)),
    ).toBe(true);
  });
});
