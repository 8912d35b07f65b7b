import { afterEach, expect, it, vi } from "vitest";
import { throttle } from "./throttle.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("Z73 what is shown is read again at most once a second, and once more when something came meanwhile", () => {
  vi.useFakeTimers();
  let calls = 0;
  const { ask, stop } = throttle(1_000, () => calls++);
  ask();
  for (let i = 0; i < 50; i++) ask();
  expect(calls).toBe(1);
  vi.advanceTimersByTime(1_000);
  expect(calls).toBe(2);
  vi.advanceTimersByTime(10_000);
  expect(calls).toBe(2);
  ask();
  ask();
  stop();
  vi.advanceTimersByTime(10_000);
  expect(calls).toBe(3);
});
