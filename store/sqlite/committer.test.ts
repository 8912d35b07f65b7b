import { existsSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CairnError } from "#lang/errors.ts";
import { refused } from "#store/contract/stores.ts";
import { Committer, URGENT, type CommitterOptions } from "./committer.ts";
import { Db } from "./file/db.ts";
import { Room } from "./file/room.ts";
import { configureWriter } from "./file/schema.ts";

const FULL = refused("unavailable", "DISK_FULL", { retryAfterMs: 1_000 });

describe("group commit when the storage fails", () => {
  let directory: string;
  let db: Db;
  let rollbacks: number;
  let failures: CairnError[];
  let afterCommit: () => void;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "cairn-committer-"));
    db = Db.open(join(directory, "a.db"));
    configureWriter(db);
    db.exec("CREATE TABLE t (x)");
    rollbacks = 0;
    failures = [];
    afterCommit = () => {};
  });
  afterEach(async () => {
    db.close();
    await rm(directory, { recursive: true });
  });

  const open = (options: Partial<CommitterOptions> = {}) =>
    new Committer({
      db,
      background: { due: false, slice: () => false, pause: () => {} },
      room: undefined,
      beforeCommit: () => {},
      onCommitted: () => {},
      afterCommit: () => afterCommit(),
      giveBack: () => {},
      onRollback: () => rollbacks++,
      onFailure: (error) => failures.push(error),
      ...options,
    });
  const put = (sizeBytes: number) => () => db.run("INSERT INTO t VALUES (zeroblob(?))", sizeBytes);
  const rows = () => Number(db.find("SELECT count(*) FROM t")![0]);
  /** Like a quota: the disk itself has space. */
  const setPagesMax = (pages: number) => db.find(`PRAGMA max_page_count = ${pages}`);
  const outcomes = (all: Promise<unknown>[]) =>
    Promise.allSettled(all).then((settled) => settled.map(({ status }) => status));

  it("D10 R4 refuses a group that does not fit, and accepts the next one that does", async () => {
    const committer = open();
    setPagesMax(10);
    const [small, large] = [committer.run(put(10)), committer.run(put(100_000))];
    await expect(large).rejects.toEqual(FULL);
    await expect(small).rejects.toEqual(FULL);
    expect({ rows: rows(), rollbacks }).toEqual({ rows: 0, rollbacks: 1 });
    await committer.run(put(10));
    setPagesMax(1_000);
    await committer.run(put(100_000));
    expect(rows()).toBe(2);
    expect(failures).toEqual([]);
  });

  it("D10 R4 runs an urgent job although it shared a group with one that does not fit", async () => {
    const committer = open({ room: new Room(directory) });
    setPagesMax(10);
    const group = [
      committer.run(put(10)),
      committer.run(put(10), URGENT),
      committer.run(put(100_000)),
      committer.run(put(11), URGENT),
    ];
    expect(await outcomes(group)).toEqual(["rejected", "fulfilled", "rejected", "fulfilled"]);
    expect(db.all("SELECT length(x) FROM t")).toEqual([[10], [11]]);
    const hopeless = [committer.run(put(100_000), URGENT), committer.run(put(10))];
    expect(await outcomes(hopeless)).toEqual(["rejected", "rejected"]);
    expect(rows()).toBe(2);
  });

  it("D11 R3 writes nothing any more once a checkpoint has failed", async () => {
    const committer = open();
    const failure = new CairnError("unavailable", "cannot write: broken", { reason: "STORAGE_FAILED" });
    afterCommit = () => {
      throw failure;
    };
    // It was on the disk before the checkpoint began.
    await committer.run(put(10));
    await expect(committer.run(put(10))).rejects.toBe(failure);
    await expect(committer.run(put(10), URGENT)).rejects.toBe(failure);
    expect(() => committer.tend(() => {})).toThrow(failure);
    expect({ rows: rows(), failures }).toEqual({ rows: 1, failures: [failure] });
    committer.close();
  });

  it("D11 R3 refuses waiting jobs when work between the groups has failed", async () => {
    const committer = open();
    const waiting = committer.run(put(10));
    const failure = new CairnError("unavailable", "cannot write: broken", { reason: "STORAGE_FAILED" });
    expect(() =>
      committer.tend(() => {
        throw failure;
      }),
    ).toThrow(failure);
    await expect(waiting).rejects.toBe(failure);
    expect({ rows: rows(), failures }).toEqual({ rows: 0, failures: [failure] });
  });

  it("D3 writes nothing any more when memory could not be brought back in line with the file", async () => {
    const committer = open({
      onRollback: () => {
        throw new CairnError("corrupt", "cannot read: broken");
      },
    });
    setPagesMax(10);
    await expect(committer.run(put(100_000))).rejects.toEqual(FULL);
    await expect(committer.run(put(10))).rejects.toEqual(refused("unavailable", "STORAGE_FAILED"));
    expect(failures).toEqual([refused("unavailable", "STORAGE_FAILED")]);
  });

  it("D10 R4 reserves space beside the store, releases it and reserves it again", () => {
    const file = join(directory, "reserve");
    const room = new Room(directory);
    room.hold();
    const { size } = statSync(file);
    expect(size).toBeGreaterThanOrEqual(1 << 20);
    expect(size).toBeLessThanOrEqual(8 << 20);
    room.release();
    expect(existsSync(file)).toBe(false);
    room.hold();
    expect(statSync(file).size).toBe(size);
    new Room(directory).hold();
    expect(statSync(file).size).toBe(size);
  });
});
