import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { CHANGED } from "#core/ports/journal.ts";
import { CairnError } from "#lang/errors.ts";
import {
  appendOne,
  AUDIT,
  createRun,
  envelope,
  getRuns,
  numbers,
  readNumbers,
  refused,
} from "../contract/stores.ts";
import { chunkId } from "./series/chunks.ts";
import { openOnDisk, tamper, type SqliteUnderTest } from "./testing/under-test.ts";
import { startThread, type StartThread, type Thread } from "./thread.ts";

const FULL = new CairnError("unavailable", "cannot start a thread: too many open files");

/** Threads of its own, as a server has them; starts of readers that are counted in `failures` fail. */
async function open(readersMax = 4) {
  const control = { failures: 0, readers: [] as Thread<unknown>[] };
  const start: StartThread = async (asked, turn) => {
    if (asked.role === "reader" && control.failures-- > 0) throw FULL;
    const thread = await startThread<never>(asked, turn);
    if (asked.role === "reader") control.readers.push(thread);
    return thread;
  };
  const under = await openOnDisk(readersMax, start);
  onTestFinished(() => under.discard());
  const id = await createRun(under.runs);
  await appendOne(under.journal, envelope(id, 1, { series: [numbers("loss", [1, 2])] }));
  const read = () => readNumbers(under.points, id, "loss");
  expect(await read()).toEqual([1, 2]);
  return { under, control, id, read };
}

/** From now on it takes seconds to verify the first run: its only series has very many damaged chunks. */
function slowVerify({ data }: SqliteUnderTest): void {
  tamper(data!, (db) => {
    db.exec(`WITH RECURSIVE up(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM up LIMIT 500000)
      INSERT INTO chunk (id, first_ordinal, count, body) SELECT ${chunkId(1, 0)} + x, 0, 1, x'00' FROM up`);
  });
}

/** Whether a connection is reading: then SQLite cannot move what is written now from its log to the file. */
function isRead({ data }: SqliteUnderTest): boolean {
  let isMoved = false;
  tamper(data!, (db) => {
    db.exec("CREATE TABLE IF NOT EXISTS written (x); INSERT INTO written VALUES (1)");
    const { log, checkpointed } = db.prepare("PRAGMA wal_checkpoint(PASSIVE)").get()!;
    isMoved = log === checkpointed;
  });
  return !isMoved;
}

describe("sqlite readers", () => {
  it("D13 one that cannot be started after a restore fails no read", async () => {
    const { under, control, read } = await open();
    const copy = join(under.directory, "copy.db");
    await under.engine.copies!.backup(copy);
    control.failures = 1;
    await under.engine.copies!.restore(copy, { audit: AUDIT });
    expect(await read()).toEqual([1, 2]);
  });

  it("D13 one that cannot be started fails the calls that wait for it, and the next call starts another", async () => {
    const { under, control, read } = await open();
    await control.readers[0]!.stop();
    control.failures = 1;
    for (const outcome of await Promise.allSettled([read(), getRuns(under.runs, [])])) {
      expect(outcome).toEqual({ status: "rejected", reason: FULL });
    }
    expect(await read()).toEqual([1, 2]);
  });

  it("D13 one that ends fails the calls it has, and no other", async () => {
    const { under, control, id } = await open();
    slowVerify(under);
    const ended = expect(under.runs.verifyRun(id)).rejects.toEqual(refused("unavailable", "STORAGE_ENDED"));
    await control.readers[0]!.stop();
    await ended;
    for (let i = 0; i < 5; i++) expect(await getRuns(under.runs, [id])).toHaveLength(1);
  });

  it("H1 A43 changes, rights and runs are read while long reads are running", async () => {
    const { under, control, id } = await open();
    slowVerify(under);
    const enough = new AbortController();
    const ended: unknown[] = [];
    const long: Promise<unknown>[] = [];
    for (let i = 0; i < 4; i++) {
      const verified = under.runs.verifyRun(id, undefined, enough.signal);
      long.push(verified.catch(() => undefined).then(() => ended.push(verified)));
      const made = await createRun(under.runs);
      const { changes } = await under.journal.changesSince(0, CHANGED.run);
      expect(changes.at(-1)!.runId).toBe(made);
      await under.access.loadAccess();
      expect(await getRuns(under.runs, [made])).toHaveLength(1);
      expect(ended).toEqual([]);
    }
    enough.abort();
    await Promise.all(long);
    expect(control.readers).toHaveLength(4);
  });

  it("H1 A43 changes are read while a long read, whose caller is gone, has not noticed it", async () => {
    const { under, control } = await open();
    tamper(under.data, (db) => {
      // To check this index takes a second or so, in one step.
      db.exec(`CREATE TABLE slow (x);
        CREATE INDEX slow_x ON slow (length(hex(zeroblob(1000000 + x))));
        WITH RECURSIVE up(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM up LIMIT 200) INSERT INTO slow SELECT x FROM up`);
    });
    const gone = new AbortController();
    const checked = expect(under.engine.integrity!.checkIntegrity(gone.signal)).rejects.toThrow();
    await expect.poll(() => isRead(under), { interval: 5 }).toBe(true);
    gone.abort();
    await checked;
    await under.journal.changesSince(0, CHANGED.run);
    expect(control.readers).toHaveLength(2);
  });

  it("needs one thread as long as no call waits for another", async () => {
    const { under, control, read } = await open();
    for (let i = 0; i < 5; i++) {
      await read();
      await under.journal.changesSince(0, CHANGED.run);
    }
    expect(control.readers).toHaveLength(1);
  });
});
