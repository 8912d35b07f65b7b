import { expect, it } from "vitest";
import { CHANGED } from "#core/ports/journal.ts";
import { Db } from "../file/db.ts";
import { migrate } from "../file/schema.ts";
import { changesSince, journalRange, JournalWriter, readJournalPoints } from "./journal.ts";
import { Tail } from "./tail.ts";

/** Changes that are not rare. */
const LINES = 200_000;
const ROUNDS = 10;
const CALLS = 10;

/** Of one call, the best of several rounds. */
function msOf(call: () => unknown): number {
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const beganMs = performance.now();
    for (let i = 0; i < CALLS; i++) call();
    best = Math.min(best, (performance.now() - beganMs) / CALLS);
  }
  return best;
}

it("V14 does not scan all changes for rare ones", () => {
  const db = Db.open(":memory:");
  migrate(db, ":memory:");
  db.exec(
    `INSERT INTO namespace (id, path, description, created_us) VALUES (1, 'lab', '', 0);
     INSERT INTO run (key, id, namespace, name, status, created_us, updated_us, aliases, tags, params, notes)
       VALUES (1, 'a', 1, '', 'running', 0, 0, '[]', '[]', '{}', '');
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LINES})
       INSERT INTO change (pos, run, what) SELECT i, 1, ${CHANGED.lines} FROM n`,
  );
  const readPoints = (after: number) =>
    readJournalPoints(db, { runId: "a", after, upTo: after, pointsMax: 1 });
  const listDeleted = (after: number) => changesSince(db, after, CHANGED.deleted);
  for (const read of [readPoints, listDeleted]) {
    expect.soft(msOf(() => read(1))).toBeLessThan(50 * msOf(() => read(LINES)));
  }
  db.close();
});

it("M11 forgets which models changed together with the changes, and not before", () => {
  const db = Db.open(":memory:");
  migrate(db, ":memory:");
  db.exec(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LINES + 2_000})
       INSERT INTO change (pos, run, what) SELECT i, 1, ${CHANGED.artifacts} FROM n;
     INSERT INTO changed_model SELECT pos, pos FROM change WHERE pos > 0`,
  );
  const journal = new JournalWriter(db, new Tail());
  journal.reload();
  journal.note(1, CHANGED.run);
  journal.prune();
  const { floor, position } = journalRange(db);
  expect(position - floor).toBe(LINES);
  expect(db.find("SELECT min(pos), max(pos) FROM changed_model")).toEqual([floor, LINES + 2_000]);
  db.close();
});
