import { expect, it } from "vitest";
import { CHANGED } from "../ports/journal.ts";
import { Changes } from "./changes.ts";
import { PerWave } from "./per-wave.ts";
import { ListJournal } from "../journal/testing/list-journal.ts";

const MIB = 1 << 20;

it("H5 caches a limited number of bytes that watchers share, and evicts the oldest first", () => {
  const kept = new PerWave<{ name: string }>(new Changes(new ListJournal()));
  const get = (name: string) => kept.get(name, () => ({ name }));
  const first = get("a");
  expect(get("a")).toBe(first);
  kept.grow("a", first, 40 * MIB);
  const second = get("b");
  kept.grow("b", second, 20 * MIB);
  expect([get("a"), get("b")]).toEqual([first, second]);
  kept.grow("b", second, 20 * MIB);
  expect(get("b")).toBe(second);
  expect(get("a")).not.toBe(first);
  // Evicted values no longer count, nor does one that is larger than the limit of all.
  kept.grow("a", first, 100 * MIB);
  expect(get("b")).toBe(second);
  const huge = get("c");
  kept.grow("c", huge, 100 * MIB);
  expect(get("c")).not.toBe(huge);
  kept.grow("b", get("b"), 30 * MIB);
  expect(get("b")).toBe(get("b"));
});

it("H5 forgets everything when subscriptions are notified again", async () => {
  const journal = new ListJournal();
  const changes = new Changes(journal);
  await changes.catchUp();
  const kept = new PerWave<object>(changes);
  const first = kept.get("a", () => ({}));
  kept.grow("a", first, 60 * MIB);
  const subscription = changes.subscribe({ runs: ["r"], signal: new AbortController().signal });
  journal.note("r", CHANGED.run);
  await subscription.wait(10_000);
  subscription.close();
  const second = kept.get("a", () => ({}));
  expect(second).not.toBe(first);
  kept.grow("a", second, 60 * MIB);
  expect(kept.get("a", () => ({}))).toBe(second);
});
