import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EVERY_LINE } from "#core/types/log.ts";
import { logLines, readAll } from "#store/contract/naive-log.ts";
import {
  appendOne,
  AUDIT,
  createRun,
  envelope,
  NOW_US,
  refused,
  type StoresUnderTest,
} from "#store/contract/stores.ts";
import { flipped, openOnDisk, tamper } from "../testing/under-test.ts";

describe("a damaged log", () => {
  let under: StoresUnderTest;
  let data: string;
  let id: string;
  let other: string;

  beforeEach(async () => {
    const opened = await openOnDisk();
    under = opened;
    data = opened.data;
    id = await createRun(under.runs);
    other = await createRun(under.runs);
  });
  afterEach(() => under.discard());

  const append = async (runId: string, texts: string[]) => {
    await appendOne(under.journal, envelope(runId, 0, { log: [logLines(texts)] }));
  };
  const read = (from: number, limit = 100) =>
    under.logs.readLog({ runId: id, filter: EVERY_LINE, from, limit });
  const numbersFrom = async (from: number) => (await read(from)).lines.map(({ number }) => number);
  const damaged = (first: number, next: number) =>
    refused("corrupt", "LINES_DAMAGED", { facts: { first: String(first), next: String(next) } });
  const problems = async () => (await under.runs.verifyRun(id)).problems;
  const bodyOf = (table: string, place: string) => {
    let body = new Uint8Array();
    tamper(data, (db) => {
      body = db.prepare(`SELECT body FROM ${table} WHERE ${place}`).get()!.body as Uint8Array<ArrayBuffer>;
    });
    return body;
  };
  const setBody = (table: string, place: string, body: Uint8Array) =>
    tamper(data, (db) => db.prepare(`UPDATE ${table} SET body = ? WHERE ${place}`).run(body));

  /** Three rows of two lines; a row of another run. */
  const fillRows = async () => {
    for (const round of [0, 1, 2]) await append(id, [`${round} a`, `${round} b`]);
    await append(other, ["fine"]);
  };

  it("L8, D9 reads up to damaged lines, refuses to begin there, and continues after them", async () => {
    await fillRows();
    const second = `first = 2 AND run = (SELECT key FROM run WHERE id = '${id}')`;
    setBody("line_row", second, flipped(bodyOf("line_row", second), 9));
    for (let round = 0; round < 3; round++) {
      expect(await read(0)).toMatchObject({ next: 2, more: true, total: 6 });
      expect(await numbersFrom(0)).toEqual([0, 1]);
      for (const from of [2, -4]) await expect(read(from)).rejects.toEqual(damaged(2, 4));
      await expect(read(3)).rejects.toEqual(damaged(3, 4));
      expect(await numbersFrom(4)).toEqual([4, 5]);
      const search = {
        runId: id,
        filter: EVERY_LINE,
        limit: 10,
        pattern: { kind: "text", text: "b" },
      } as const;
      expect(await under.logs.searchLog({ ...search, from: 0 })).toMatchObject({
        lines: [{ number: 1 }],
        next: 2,
        more: true,
      });
      await expect(under.logs.searchLog({ ...search, from: 2 })).rejects.toEqual(damaged(2, 4));
      expect(await readAll(under.logs, other)).toMatchObject([{ text: "fine" }]);
      expect(await problems()).toEqual(["log: its lines from number 2 to 3 are damaged"]);
      const integrity = await under.engine.integrity!.checkIntegrity();
      expect(integrity.problems).toEqual([`run ${id}: log: its lines from number 2 to 3 are damaged`]);
      // At first as a row, then moved as it is among the chunks, then with more behind it.
      if (round === 0) await under.settle();
      else if (round === 1) under = await under.reopen!();
    }
    await append(id, ["more"]);
    await under.settle();
    expect(await numbersFrom(4)).toEqual([4, 5, 6]);
    await under.runs.setDeleted(id, NOW_US, AUDIT);
    await under.runs.purgeRun(id, AUDIT);
    expect((await under.engine.integrity!.checkIntegrity()).problems).toEqual([]);
  });

  it.each(["line_row", "line_chunk"])("L8, D9 detects a flip in any byte of a piece in %s", async (table) => {
    await append(id, ["one", "two 🐈", ""]);
    if (table === "line_chunk") await under.settle();
    const body = bodyOf(table, "first = 0");
    for (let at = 0; at < body.length; at++) {
      setBody(table, "first = 0", flipped(body, at));
      await expect(read(0), `byte ${at}`).rejects.toEqual(damaged(0, 3));
    }
    for (const cut of [0, 1, body.length - 1]) {
      setBody(table, "first = 0", body.slice(0, cut));
      await expect(read(0)).rejects.toEqual(damaged(0, 3));
    }
    setBody(table, "first = 0", body);
    expect(await numbersFrom(0)).toEqual([0, 1, 2]);
    expect(await problems()).toEqual([]);
  });

  it.each([
    "run = run + 1",
    "first = 1",
    "first = 70",
    "count = 1",
    "count = 9",
    "size = size + 1",
    "time_min = 5",
    "time_max = 5",
    "received_us = 5",
    "crc = crc + 1",
    "head_crc = head_crc + 1",
    "sources = x''",
    "sources = x'01000161'",
  ])("L8, D9 sees %s beside a piece, also when a filter would not open it", async (change) => {
    for (const rests of [false, true]) {
      id = await createRun(under.runs);
      await fillRows();
      // One behind it that is too small to become one with it.
      if (rests) await under.settle();
      await append(id, ["z"]);
      if (rests) await under.settle();
      const table = rests ? "line_chunk" : "line_row";
      const end = rests ? 6 : 2;
      tamper(data, (db) =>
        db.exec(
          `UPDATE ${table} SET ${change} WHERE first = 0 AND run = (SELECT key FROM run WHERE id = '${id}')`,
        ),
      );
      for (const filter of [EVERY_LINE, { ...EVERY_LINE, rank: 77 }, { ...EVERY_LINE, fromUs: NOW_US * 2 }]) {
        const reading = under.logs.readLog({ runId: id, filter, from: 0, limit: 5 });
        await expect(reading, JSON.stringify(filter)).rejects.toEqual(refused("corrupt", "LINES_DAMAGED"));
      }
      expect((await problems()).join()).toContain("log: its lines from number 0 to");
      expect(await numbersFrom(end)).toEqual(rests ? [6] : [2, 3, 4, 5, 6]);
      // New lines still get new numbers.
      const before = await under.logs.lineCount(id);
      await append(id, ["new"]);
      expect((await read(before)).lines).toMatchObject([{ number: before, text: "new" }]);
      await under.settle();
      expect((await read(before)).lines).toMatchObject([{ number: before, text: "new" }]);
    }
  });

  it("L8, B3 names lines that are missing, and a total that is too low", async () => {
    await fillRows();
    await under.settle();
    await append(id, ["last"]);
    const mine = `run = (SELECT key FROM run WHERE id = '${id}')`;
    tamper(data, (db) => db.exec(`UPDATE line_total SET lines = 3 WHERE ${mine}`));
    expect(await problems()).toEqual(["log: it ends at line number 7, not at 3"]);
    expect(await numbersFrom(0)).toHaveLength(7);
    tamper(data, (db) => db.exec(`UPDATE line_total SET lines = 7 WHERE ${mine}`));
    tamper(data, (db) => db.exec(`DELETE FROM line_row WHERE ${mine}`));
    expect(await problems()).toEqual(["log: its lines from number 6 to 6 are damaged"]);
    await expect(read(6)).rejects.toEqual(damaged(6, 7));
    tamper(data, (db) => db.exec(`DELETE FROM line_chunk WHERE ${mine}`));
    expect(await problems()).toEqual(["log: its lines from number 0 to 6 are damaged"]);
    await expect(read(0)).rejects.toEqual(damaged(0, 7));
  });

  it("L8 merges lines on both sides of missing ones, and each keeps its number", async () => {
    await fillRows();
    const mine = `run = (SELECT key FROM run WHERE id = '${id}')`;
    tamper(data, (db) => db.exec(`DELETE FROM line_row WHERE first = 2 AND ${mine}`));
    await under.settle();
    for (const text of ["6", "7 is long enough to take what is before it along"]) await append(id, [text]);
    tamper(data, (db) => db.exec(`DELETE FROM line_row WHERE first = 6 AND ${mine}`));
    await under.settle();
    expect(await numbersFrom(0)).toEqual([0, 1]);
    await expect(read(2)).rejects.toEqual(damaged(2, 4));
    expect(await numbersFrom(4)).toEqual([4, 5]);
    await expect(read(6)).rejects.toEqual(damaged(6, 7));
    expect((await read(7)).lines).toMatchObject([
      { number: 7, text: "7 is long enough to take what is before it along" },
    ]);
    expect(await problems()).toHaveLength(2);
  });

  it("U6 leaves no line of a purged run in the file", async () => {
    await fillRows();
    await under.settle();
    await append(id, ["more"]);
    await under.runs.setDeleted(id, NOW_US, AUDIT);
    await under.runs.purgeRun(id, AUDIT);
    tamper(data, (db) => {
      for (const table of ["line_row", "line_chunk", "line_total"]) {
        const left = db.prepare(`SELECT run.id FROM ${table} LEFT JOIN run ON run.key = run`).all();
        expect(left).toEqual(table === "line_row" ? [] : [{ id: other }]);
      }
    });
  });

  it("B1 a backup holds the lines, and restoring it restores exactly them", async () => {
    await fillRows();
    await under.settle();
    await append(id, ["in the backup"]);
    const copy = join(under.directory, "copy.db");
    await under.engine.copies!.backup(copy);
    await append(id, ["later"]);
    await under.engine.copies!.restore(copy, { audit: AUDIT });
    const texts = (await readAll(under.logs, id)).map(({ text }) => text);
    expect(texts.join()).toBe("0 a,0 b,1 a,1 b,2 a,2 b,in the backup");
    await append(id, ["after"]);
    expect((await read(7)).lines).toMatchObject([{ number: 7, text: "after" }]);
    expect(await problems()).toEqual([]);
  });
});
