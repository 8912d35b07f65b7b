import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CHANGED } from "../ports/journal.ts";
import { Changes } from "./changes.ts";
import { cursorFromText } from "./position.ts";
import { ReadPositions } from "./read-positions.ts";
import { ListJournal } from "../journal/testing/list-journal.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => vi.useRealTimers());

async function open(resealMs?: number) {
  const journal = new ListJournal();
  const changes = new Changes(journal);
  await changes.catchUp();
  return { journal, changes, positions: new ReadPositions(changes, resealMs) };
}

it("H17 the position of a read changes after the same time, whether something has happened or not", async () => {
  const { journal, positions } = await open();
  const texts = (change: boolean): string[] =>
    Array.from({ length: 100 }, () => {
      if (change) journal.note("a", CHANGED.run);
      vi.advanceTimersByTime(1);
      return positions.now();
    });
  const pattern = (all: readonly string[]) => all.map((text) => all.indexOf(text));
  vi.advanceTimersByTime(1_000);
  const quiet = texts(false);
  vi.advanceTimersByTime(1_000);
  const busy = texts(true);
  expect(pattern(busy)).toEqual(pattern(quiet));
  expect(new Set(quiet).size).toBeGreaterThan(2);
  expect(new Set(quiet).size).toBeLessThan(20);
  expect(new Set([...quiet, ...busy].map(({ length }) => length)).size).toBe(1);
});

it("H15 the position of a read is from before it began, also when nothing follows the journal", async () => {
  const { journal, changes, positions } = await open(0);
  const at = () => cursorFromText(positions.now(), changes, 0)?.cursor;
  expect(at()).toEqual({ runs: 0, points: 0, part: undefined });
  journal.wakes = false;
  journal.note("a", CHANGED.run);
  expect(at()).toEqual({ runs: 1, points: 1, part: undefined });
  expect(changes.position).toBe(0);
});
