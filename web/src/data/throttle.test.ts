import { afterEach, expect, it, vi } from "vitest";
import { throttle } from "./throttle.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("Z73 a call that takes longer is waited for", async () => {
  vi.useFakeTimers();
  const begun: (() => void)[] = [];
  const { ask } = throttle(1_000, () => new Promise<void>((resolve) => begun.push(resolve)));
  ask();
  ask();
  vi.advanceTimersByTime(5_000);
  expect(begun.length).toBe(1);
  begun[0]();
  await vi.advanceTimersByTimeAsync(0);
  expect(begun.length).toBe(2);
  begun[1]();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(begun.length).toBe(2);
});

it("Z73 the shown data is read again at most once a second, and once more after a change meanwhile", () => {
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
