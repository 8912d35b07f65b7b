import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openColumns, type Columns } from "#store/columns/open.ts";
import { searchRequest } from "#store/contract/run-feeder.ts";
import { appendOne, AUDIT, createRun, envelope, NOW_US, numbers } from "#store/contract/stores.ts";
import { openSqlite, type SqliteStore } from "#store/sqlite/open.ts";

/** The run index on a real store, over restarts. */
describe("the run index of a store in a directory", () => {
  let directory: string;
  let store: SqliteStore;
  let columns: Columns;

  const open = async () => {
    store = await openSqlite({ directory, readersMax: 1, nowUs: () => NOW_US });
    columns = openColumns({ snapshot: join(directory, "run-index.snapshot"), snapshotRunsMin: 1 });
    await columns.follow(await store.followRuns());
  };
  const close = async () => {
    await columns.search.close();
    await store.close();
  };
  const found = async (query: string) => (await columns.search.search(searchRequest(query))).ids;
  const behindItsBack = (sql: string) => {
    const db = new DatabaseSync(join(directory, "cairn.db"));
    db.exec(sql);
    db.close();
  };

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "cairn-run-index-"));
    await open();
  });
  afterEach(async () => {
    await close();
    rmSync(directory, { recursive: true });
  });

  /** A run with different names in the snapshot and the table, without a change in the journal. */
  async function partWays(): Promise<string> {
    const id = await createRun(store, { name: "as captured" });
    await appendOne(store, envelope(id, 1, { series: [numbers("loss", [3, 1, 2])] }));
    expect(await found('name = "as captured"')).toEqual([id]);
    await close();
    behindItsBack("UPDATE run SET name = 'as stored'");
    return id;
  }

  it("J6 continues from its snapshot with the later changes, folded or not", async () => {
    const id = await partWays();
    await open();
    expect(await found('name = "as captured" and metrics.loss.min = 1')).toEqual([id]);
    await appendOne(store, envelope(id, 2, { series: [numbers("loss", [0], 3)] }));
    const other = await createRun(store, { name: "other" });
    await appendOne(store, envelope(other, 1, { series: [numbers("loss", [5])] }));
    expect(await found("order by metrics.loss.last")).toEqual([id, other]);
    // Not enough changes for another snapshot: the next start continues from the first one.
    await close();
    await open();
    expect(await found('name = "as captured" and metrics.loss.min = 0')).toEqual([id]);
    expect(await found("metrics.loss.last = 5")).toEqual([other]);
    await store.settle();
    await store.setDeleted(other, NOW_US, AUDIT);
    await store.purgeRun(other, AUDIT);
    await close();
    await open();
    expect(await found("order by metrics.loss.last")).toEqual([id]);
  });

  const useless: Record<string, () => void> = {
    "is damaged": () => {
      const file = join(directory, "run-index.snapshot");
      const bytes = readFileSync(file);
      bytes[bytes.length >> 1]! ^= 4;
      writeFileSync(file, bytes);
    },
    "is of another journal": () =>
      behindItsBack("UPDATE setting SET value = lower(hex(randomblob(32))) WHERE name = 'journal-secret'"),
    "is older than the journal remembers": () =>
      behindItsBack(
        "INSERT INTO change (pos, run, what) SELECT max(pos) + 10, 0, 0 FROM change; DELETE FROM change WHERE pos < (SELECT max(pos) FROM change)",
      ),
    "is ahead of the store": () =>
      behindItsBack("DELETE FROM change WHERE pos = (SELECT max(pos) FROM change)"),
  };
  for (const [what, spoil] of Object.entries(useless)) {
    it(`J7 reads every run when its snapshot ${what}`, async () => {
      const id = await partWays();
      spoil();
      await open();
      expect(await found('name = "as stored" and metrics.loss.min = 1')).toEqual([id]);
      await close();
      await open();
      expect(await found('name = "as stored"')).toEqual([id]);
    });
  }

  it("J7 reads every run of a copy that was restored", async () => {
    const id = await createRun(store, { name: "kept" });
    await store.backup(join(directory, "copy.db"));
    await createRun(store, { name: "lost" });
    expect(await found("")).toHaveLength(2);
    await store.restore(join(directory, "copy.db"), { audit: AUDIT });
    expect(await found("")).toEqual([id]);
    await close();
    await open();
    expect(await found("")).toEqual([id]);
  });
});
