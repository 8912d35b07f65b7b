import { expect, it } from "vitest";
import { MissedEvents } from "./missed.ts";
import type { LiveEvent } from "./types.ts";

it("Z72 a hidden tab gets missed events in order, or reads again", () => {
  const missed = new MissedEvents();
  const lines = (next: number): LiveEvent => ({ kind: "lines", lines: [], next: BigInt(next) });
  missed.keep(lines(1));
  missed.keep(lines(2));
  expect(missed.take()).toEqual([lines(1), lines(2)]);
  expect(missed.take()).toEqual([]);
  for (let i = 0; i < 10_000; i++) missed.keep(lines(i));
  expect(missed.take()).toEqual([{ kind: "stale" }]);
  missed.keep(lines(3));
  missed.keep({ kind: "stale" });
  missed.keep(lines(4));
  expect(missed.take()).toEqual([{ kind: "stale" }]);
  for (let i = 0; i < 100; i++) missed.keep({ kind: "changes" });
  expect(missed.take()).toEqual([{ kind: "changes" }]);
});
