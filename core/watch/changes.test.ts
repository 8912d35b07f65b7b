import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CHANGED } from "../ports/journal.ts";
import { Changes, type ChangesOptions } from "./changes.ts";
import { ListJournal } from "../journal/testing/list-journal.ts";

const never = new AbortController().signal;

async function open(options?: ChangesOptions): Promise<{ journal: ListJournal; changes: Changes }> {
  const journal = new ListJournal();
  const changes = new Changes(journal, options);
  await changes.catchUp();
  return { journal, changes };
}

function note(journal: ListJournal, runId: string, what: number = CHANGED.run): void {
  journal.note(runId, what);
}

describe("changes in memory", () => {
  it("H6 a run is remembered once, by its last change of each kind", async () => {
    const { journal, changes } = await open();
    note(journal, "a");
    note(journal, "b", CHANGED.points);
    note(journal, "a", CHANGED.points | CHANGED.lines);
    note(journal, "c", CHANGED.artifacts);
    await changes.catchUp();
    expect(changes.position).toBe(4);
    expect(changes.size).toBe(3);
    const since = (position: number, what: number) =>
      changes.since(position, what).map((run) => [run.runId, run.position]);
    expect(since(0, CHANGED.run)).toEqual([["a", 1]]);
    expect(since(0, CHANGED.run | CHANGED.points)).toEqual([
      ["b", 2],
      ["a", 3],
    ]);
    expect(since(2, CHANGED.lines | CHANGED.artifacts)).toEqual([
      ["a", 3],
      ["c", 4],
    ]);
    expect(since(1, CHANGED.run)).toEqual([]);
    expect(changes.since(0, CHANGED.run)[0]).toMatchObject({ namespace: "of a", purged: false });
    note(journal, "a", CHANGED.purged);
    await changes.catchUp();
    expect(changes.since(4, CHANGED.run)).toMatchObject([{ runId: "a", purged: true, position: 5 }]);
  });

  it("H5 has a floor from which on its changes are complete, for any changes and any reads", async () => {
    const steps = fc.tuple(fc.nat(12), fc.constantFrom(1, 2, 3, 4, 8, 15), fc.boolean());
    await fc.assert(
      fc.asyncProperty(
        fc.array(steps, { maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        async (noted, runsMax) => {
          const { journal, changes } = await open({ runsMax });
          for (const [run, what, look] of noted) {
            note(journal, String(run), what);
            if (look) await changes.catchUp();
          }
          await changes.catchUp();
          expect(changes.position).toBe(noted.length);
          expect(changes.size).toBeLessThanOrEqual(runsMax);
          for (let from = changes.floor; from <= noted.length; from++) {
            for (const asked of [CHANGED.run, CHANGED.points | CHANGED.lines]) {
              const last = new Map<string, number>();
              noted.forEach(([run, what], i) => {
                if ((what & asked) !== 0 && i + 1 > from) last.set(String(run), i + 1);
              });
              const expected = [...last].toSorted(([, a], [, b]) => a - b);
              expect(changes.since(from, asked).map((run) => [run.runId, run.position])).toEqual(expected);
            }
          }
          // No more is forgotten than necessary.
          const distinct = new Set(noted.slice(changes.floor).map(([run]) => run)).size;
          if (changes.floor > 0) expect(distinct).toBe(runsMax);
        },
      ),
    );
  });

  it("H4 reaches back to what happened before it began, as far as the journal does", async () => {
    const journal = new ListJournal();
    for (const run of ["a", "b", "c", "b"]) note(journal, run);
    const changes = new Changes(journal);
    await changes.catchUp();
    expect([changes.floor, changes.position]).toEqual([4, 4]);
    note(journal, "d");
    expect(await changes.reachBack(2)).toBe(true);
    const runs = changes.since(2, CHANGED.run).map(({ runId, position }) => [runId, position]);
    expect(runs).toEqual([
      ["c", 3],
      ["b", 4],
      ["d", 5],
    ]);
    const asked = journal.asked;
    expect(await changes.reachBack(3)).toBe(true);
    expect(journal.asked).toBe(asked);
    journal.floor = 2;
    expect(await changes.reachBack(1)).toBe(false);
    expect(changes.since(2, CHANGED.run)).toHaveLength(3);
    expect(await changes.reachBack(6)).toBe(false);
    // Given out by another process, whose wake-up was lost.
    journal.wakes = false;
    note(journal, "e");
    expect(await changes.reachBack(6)).toBe(true);
  });

  it("H5 another journal clears everything, and every earlier position is behind", async () => {
    const { journal, changes } = await open();
    note(journal, "a");
    await changes.catchUp();
    const { epoch } = changes;
    journal.secret = "another";
    journal.floor = 5;
    journal.last = 5;
    const subscription = changes.subscribe({ runs: ["x"], signal: never });
    note(journal, "b");
    await subscription.wait();
    subscription.close();
    expect(changes.epoch).not.toBe(epoch);
    expect([changes.floor, changes.resetAt]).toEqual([6, 6]);
    expect(changes.since(6, CHANGED.run)).toEqual([]);
    note(journal, "a");
    await changes.catchUp();
    expect(changes.since(6, CHANGED.run)).toMatchObject([{ runId: "a", position: 7 }]);
  });

  it("H5 a journal that has forgotten the changes since is read from its floor", async () => {
    const { journal, changes } = await open();
    for (const run of ["a", "b", "c"]) note(journal, run);
    journal.floor = 2;
    await changes.catchUp();
    expect([changes.floor, changes.position, changes.resetAt]).toEqual([3, 3, 0]);
  });
});

describe("a subscription", () => {
  it("H1 is notified though the wake-up was lost", async () => {
    const { journal, changes } = await open({ waveMs: 1, pollMs: 5 });
    const subscription = changes.subscribe({ runs: ["a"], signal: never });
    journal.wakes = false;
    note(journal, "a");
    expect(await subscription.wait()).toBe(true);
    expect(changes.position).toBe(1);
    subscription.close();
  });

  it("H1 is notified of its own runs only, also of changes before it waits", async () => {
    const { journal, changes } = await open({ waveMs: 1 });
    const subscription = changes.subscribe({ runs: ["a", "b"], signal: never });
    const everything = changes.subscribe({ signal: never });
    note(journal, "c");
    expect(await everything.wait()).toBe(true);
    expect(await subscription.wait(5)).toBe(false);
    note(journal, "b");
    await everything.wait();
    expect(await subscription.wait()).toBe(true);
    const waiting = subscription.wait();
    note(journal, "a");
    expect(await waiting).toBe(true);
    subscription.close();
    everything.close();
  });

  it("H6 is notified once of all changes in one moment", async () => {
    const { journal, changes } = await open();
    const subscription = changes.subscribe({ signal: never });
    const { wave } = changes;
    for (let i = 0; i < 1_000; i++) note(journal, String(i % 7));
    expect(await subscription.wait()).toBe(true);
    expect(changes.wave).toBe(wave + 1);
    note(journal, "a");
    expect(await subscription.wait()).toBe(true);
    expect(changes.wave).toBe(wave + 2);
    subscription.close();
  });

  it("H1 a journal that cannot be read is asked again by the poll, which notifies of what was missed", async () => {
    const pollMs = 50;
    const { journal, changes } = await open({ waveMs: 1, pollMs });
    const subscription = changes.subscribe({ signal: never });
    journal.fails = true;
    const { asked } = journal;
    const beganMs = performance.now();
    note(journal, "a");
    for (let i = 0; i < 2_000; i++) await setImmediate();
    expect(journal.asked).toBeGreaterThan(asked);
    expect(journal.asked - asked).toBeLessThanOrEqual(2 + (performance.now() - beganMs) / pollMs);
    journal.fails = false;
    expect(await subscription.wait()).toBe(true);
    expect(changes.position).toBe(1);
    subscription.close();
  });

  it("H10 stops waiting when its client disconnects, when it is closed and when the server stops", async () => {
    const { changes } = await open();
    const client = new AbortController();
    let closed = 0;
    const onClose = (): void => void closed++;
    const [gone, left, stopped] = [
      changes.subscribe({ signal: client.signal, onClose }),
      changes.subscribe({ runs: ["a"], signal: never, onClose }),
      changes.subscribe({ runs: ["a"], signal: never, onClose }),
    ];
    const waits = [gone, left, stopped].map((subscription) =>
      subscription.wait().then(
        () => "notified",
        (error: unknown) => (error as { code: string }).code,
      ),
    );
    client.abort();
    left.close();
    left.close();
    changes.stop();
    expect(await Promise.all(waits)).toEqual(["aborted", "aborted", "unavailable"]);
    expect(closed).toBe(3);
    await expect(gone.wait()).rejects.toMatchObject({ code: "aborted" });
    const late = changes.subscribe({ signal: never, onClose });
    await expect(late.wait()).rejects.toMatchObject({ code: "unavailable", reason: "STOPPING" });
    const tooLate = changes.subscribe({ signal: client.signal, onClose });
    await expect(tooLate.wait()).rejects.toMatchObject({ code: "aborted" });
    expect(closed).toBe(5);
  });

  it("H7 is always notified when rights have changed", async () => {
    const { changes } = await open();
    const subscriptions = [
      changes.subscribe({ signal: never }),
      changes.subscribe({ runs: ["a"], signal: never }),
    ];
    const waits = subscriptions.map((subscription) => subscription.wait());
    changes.notifyAll();
    expect(await Promise.all(waits)).toEqual([true, true]);
    for (const subscription of subscriptions) subscription.close();
  });
});
