import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CHANGED, Changes } from "./changes.ts";

const never = new AbortController().signal;

function note(changes: Changes, runId: string, what: number = CHANGED.run): void {
  changes.note({ runId, namespace: `of ${runId}`, what });
}

describe("what is remembered", () => {
  it("H6 a run is remembered once, by its last change of each kind", () => {
    const changes = new Changes();
    note(changes, "a");
    note(changes, "b", CHANGED.points);
    note(changes, "a", CHANGED.points | CHANGED.lines);
    note(changes, "c", CHANGED.artifacts);
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
    note(changes, "a", CHANGED.purged);
    expect(changes.since(4, CHANGED.run)).toMatchObject([{ runId: "a", purged: true, position: 5 }]);
  });

  it("H5 knows from which position on it knows everything, whatever was noted", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(12), fc.constantFrom(1, 2, 3, 4, 8, 15)), { maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        (noted, runsMax) => {
          const changes = new Changes({ runsMax });
          noted.forEach(([run, what]) => note(changes, String(run), what));
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
          // No more is forgotten than must be.
          const distinct = new Set(noted.slice(changes.floor).map(([run]) => run)).size;
          if (changes.floor > 0) expect(distinct).toBe(runsMax);
        },
      ),
    );
  });

  it("H5 a reset leaves nothing, and every position so far is behind", () => {
    const changes = new Changes();
    note(changes, "a");
    changes.reset();
    expect(changes.floor).toBe(2);
    expect(changes.resetAt).toBe(2);
    expect(changes.since(2, CHANGED.run)).toEqual([]);
    note(changes, "a");
    expect(changes.since(2, CHANGED.run)).toMatchObject([{ runId: "a", position: 3 }]);
  });
});

describe("who listens", () => {
  it("H1 hears of its own runs only, also of what happened before it waits", async () => {
    const changes = new Changes({ waveMs: 1 });
    const ear = changes.listen({ runs: ["a", "b"], signal: never });
    const everything = changes.listen({ signal: never });
    note(changes, "c");
    expect(await everything.wait()).toBe(true);
    expect(await ear.wait(5)).toBe(false);
    note(changes, "b");
    await everything.wait();
    expect(await ear.wait()).toBe(true);
    const waiting = ear.wait();
    note(changes, "a");
    expect(await waiting).toBe(true);
    ear.close();
    everything.close();
  });

  it("H6 hears once of all that happens in one moment", async () => {
    const changes = new Changes();
    const ear = changes.listen({ signal: never });
    for (let i = 0; i < 1_000; i++) note(changes, String(i % 7));
    expect(await ear.wait()).toBe(true);
    expect(changes.wave).toBe(1);
    note(changes, "a");
    expect(await ear.wait()).toBe(true);
    expect(changes.wave).toBe(2);
    ear.close();
  });

  it("H10 stops waiting when its client goes, when it is closed and when the server stops", async () => {
    const changes = new Changes();
    const client = new AbortController();
    let closed = 0;
    const onClose = (): void => void closed++;
    const [gone, left, stopped] = [
      changes.listen({ signal: client.signal, onClose }),
      changes.listen({ runs: ["a"], signal: never, onClose }),
      changes.listen({ runs: ["a"], signal: never, onClose }),
    ];
    const waits = [gone, left, stopped].map((ear) =>
      ear.wait().then(
        () => "heard",
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
    const late = changes.listen({ signal: never, onClose });
    await expect(late.wait()).rejects.toMatchObject({ code: "unavailable", reason: "STOPPING" });
    const tooLate = changes.listen({ signal: client.signal, onClose });
    await expect(tooLate.wait()).rejects.toMatchObject({ code: "aborted" });
    expect(closed).toBe(5);
  });

  it("H7 everybody is made to look when rights have changed", async () => {
    const changes = new Changes();
    const ears = [changes.listen({ signal: never }), changes.listen({ runs: ["a"], signal: never })];
    const waits = ears.map((ear) => ear.wait());
    changes.rouse();
    expect(await Promise.all(waits)).toEqual([true, true]);
    for (const ear of ears) ear.close();
  });
});
