import { expect, it, onTestFinished } from "vitest";
import { CHANGED, type JournalChange } from "../ports/journal.ts";
import { ListJournal } from "./testing/list-journal.ts";
import { Follower, type FollowerOptions } from "./follower.ts";

/** Follows the kind, and records what it receives: runs, or "everything". */
function follow(journal: ListJournal, kinds: number, options: FollowerOptions = { pollMs: 1e6 }) {
  const follower = new Follower(journal, options);
  onTestFinished(() => follower.stop());
  const seen: string[] = [];
  const refusals: Error[] = [];
  follower.follow(kinds, (changes) => {
    if (refusals.length > 0) throw refusals.pop()!;
    seen.push(...(changes?.map(({ runId }: JournalChange) => runId) ?? ["everything"]));
  });
  return { follower, seen, refusals };
}

it("H14 passes on changes of the kind that is followed, each once", async () => {
  const journal = new ListJournal();
  const { follower, seen } = follow(journal, CHANGED.purged);
  const moved: (readonly JournalChange[] | undefined)[] = [];
  follower.follow(CHANGED.moved, (changes) => void moved.push(changes));
  await follower.catchUp();
  expect(seen.splice(0)).toEqual(["everything"]);
  journal.note("a", CHANGED.purged);
  journal.note("b", CHANGED.run);
  journal.note("c", CHANGED.purged | CHANGED.run);
  await Promise.all([follower.catchUp(), follower.catchUp()]);
  await follower.catchUp();
  expect([seen, moved]).toEqual([["a", "c"], [undefined]]);
});

it("H14 reports that everything may have changed when the journal is another one, or has forgotten the changes", async () => {
  const journal = new ListJournal();
  const { follower, seen } = follow(journal, CHANGED.purged);
  await follower.catchUp();
  journal.secret = "of the restored one";
  await follower.catchUp();
  journal.note("a", CHANGED.purged);
  journal.floor = journal.last;
  await follower.catchUp();
  await follower.catchUp();
  expect(seen).toEqual(["everything", "everything", "everything"]);
});

it("H14 repeats changes that a cache could not follow", async () => {
  const journal = new ListJournal();
  const { follower, seen, refusals } = follow(journal, CHANGED.purged);
  await follower.catchUp();
  journal.note("a", CHANGED.purged);
  refusals.push(new Error("the store does not answer"));
  await expect(follower.catchUp()).rejects.toThrow("the store does not answer");
  journal.note("b", CHANGED.purged);
  await follower.catchUp();
  expect(seen).toEqual(["everything", "a", "b"]);
});

it("H14 a call during a read is served by the next read", async () => {
  const journal = new ListJournal();
  const { follower, seen } = follow(journal, CHANGED.purged);
  await follower.catchUp();
  const earlier = follower.catchUp();
  // The read of the call before has begun, and has missed this.
  await Promise.resolve();
  journal.note("a", CHANGED.purged);
  await Promise.all([earlier, follower.catchUp()]);
  expect(seen).toEqual(["everything", "a"]);
});

it("H14 polls without a wake-up, also after the store has failed", async () => {
  const journal = new ListJournal();
  journal.wakes = false;
  const { seen, refusals } = follow(journal, CHANGED.purged, { pollMs: 1 });
  await expect.poll(() => seen).toEqual(["everything"]);
  refusals.push(new Error("the store does not answer"));
  journal.note("a", CHANGED.purged);
  await expect.poll(() => seen).toEqual(["everything", "a"]);
});

it("A43 calls without a credential share a read, with a pause before it", async () => {
  const journal = new ListJournal();
  const { follower } = follow(journal, CHANGED.access, { pollMs: 1e6, restMs: 30 });
  await follower.catchUp();
  const beginMs = performance.now();
  await Promise.all(Array.from({ length: 100 }, () => follower.catchUpAfterRest()));
  expect(journal.asked).toBe(2);
  // Timers may be a little early.
  expect(performance.now() - beginMs).toBeGreaterThan(20);
});
