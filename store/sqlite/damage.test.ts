import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  AUDIT,
  appendOne,
  createRun,
  envelope,
  getRuns,
  NOW_US,
  numbers,
  readNumbers,
  refused,
  selectOf,
  type StoresUnderTest,
} from "#store/contract/stores.ts";
import { flipped, openOnDisk, tamper } from "./testing/under-test.ts";

const PAGE_BYTES = 4096;

describe("a damaged store", () => {
  let under: StoresUnderTest;
  let data: string;
  let id: string;

  beforeEach(async () => {
    const opened = await openOnDisk();
    under = opened;
    data = opened.data;
    id = await createRun(under.runs);
    for (const seq of [1, 2, 3]) {
      const series = [numbers("loss", [seq, seq + 0.5], 2 * seq), numbers("acc", [-seq], seq)];
      await appendOne(under.journal, envelope(id, seq, { series }));
    }
    await appendOne(under.journal, envelope(id, 4, { series: [numbers("other", [7, 8, 9])] }));
  });
  afterEach(() => under.discard());

  const reopen = async () => {
    under = await under.reopen!();
  };
  const read = (key: string, request = {}) => readNumbers(under.points, id, key, request);
  const corrupt = refused("corrupt");
  const list = async () => {
    return (await selectOf(under.points, id)).series.map(({ key, summary }) => [key, summary.count]);
  };
  /** Every damaged thing is named by verify and by the integrity check, and nothing else is. */
  const expectNamed = async (...names: string[]) => {
    const { problems } = await under.runs.verifyRun(id);
    const integrity = await under.engine.integrity!.checkIntegrity();
    for (const name of names) {
      expect(problems.join("\n")).toContain(name);
      expect(integrity.problems.join("\n")).toContain(name);
    }
    expect([...problems, ...integrity.problems].join("\n")).not.toContain('"other"');
  };

  describe("in a chunk", () => {
    const LOSS = "(SELECT id FROM series WHERE key = 'loss') * 1048576";
    const bodyOf = () => {
      let body = new Uint8Array();
      tamper(data, (db) => {
        body = db.prepare(`SELECT body FROM chunk WHERE id = ${LOSS}`).get()!.body as Uint8Array<ArrayBuffer>;
      });
      return body;
    };
    const setBody = (body: Uint8Array) =>
      tamper(data, (db) => db.prepare(`UPDATE chunk SET body = ? WHERE id = ${LOSS}`).run(body));

    beforeEach(() => under.settle());

    it("D9 B3 refuses every read that meets it, names it, and does not affect the other series", async () => {
      setBody(flipped(bodyOf(), 20));
      await expect(read("loss")).rejects.toEqual(corrupt);
      await expect(read("loss", { from: 2, to: 3 })).rejects.toEqual(corrupt);
      await expect(read("loss", { buckets: 2 })).rejects.toEqual(corrupt);
      expect(await read("acc")).toEqual([-1, -2, -3]);
      expect(await read("other")).toEqual([7, 8, 9]);
      expect(await list()).toEqual([
        ["acc", 3],
        ["loss", 6],
        ["other", 3],
      ]);
      await expectNamed('series "loss": its points from number 0 on are damaged');
      expect(await under.runs.verifyRun(id)).toMatchObject({ points: 6 });
    });

    it("D9 detects a flip in any byte", async () => {
      const body = bodyOf();
      for (let at = 0; at < body.length; at++) {
        setBody(flipped(body, at));
        await expect(read("loss"), `byte ${at}`).rejects.toEqual(corrupt);
      }
      for (const cut of [0, 1, 7, body.length - 1]) {
        setBody(body.slice(0, cut));
        await expect(read("loss")).rejects.toEqual(corrupt);
      }
      setBody(body);
      expect(await read("loss")).toEqual([1, 1.5, 2, 2.5, 3, 3.5]);
    });

    it("D9 still accepts new points and does not change the damaged chunk", async () => {
      const damaged = flipped(bodyOf(), 20);
      setBody(damaged);
      await appendOne(under.journal, envelope(id, 5, { series: [numbers("loss", [9], 100)] }));
      await under.settle();
      await reopen();
      expect(bodyOf()).toEqual(damaged);
      await expect(read("loss")).rejects.toEqual(corrupt);
      expect(await read("loss", { from: 50 })).toEqual([9]);
      await expectNamed('series "loss"');
    });

    it("D9 continues to summarize the other points when a restart goes back before it", async () => {
      setBody(flipped(bodyOf(), 20));
      const back = envelope(id, 1, {
        writer: "v",
        series: [numbers("loss", [50, 60], 3), numbers("acc", [5], 2)],
      });
      await appendOne(under.journal, back);
      for (let round = 0; round < 2; round++) {
        expect(await list()).toEqual([
          ["acc", 2],
          ["loss", 2],
          ["other", 3],
        ]);
        await expect(read("loss")).rejects.toEqual(corrupt);
        expect(await read("acc")).toEqual([-1, 5]);
        await under.settle();
        await reopen();
      }
    });

    it("B3 names points that are missing or filed under wrong numbers", async () => {
      const body = bodyOf();
      const changes = [
        "UPDATE chunk SET first_ordinal = 1",
        "UPDATE chunk SET count = 5",
        "UPDATE chunk SET step_min = 3",
        "UPDATE chunk SET step_max = NULL",
        "UPDATE chunk SET time_min = 0",
        "DELETE FROM chunk",
      ];
      for (const change of changes) {
        let before: Record<string, unknown> = {};
        tamper(data, (db) => {
          before = db.prepare(`SELECT * FROM chunk WHERE id = ${LOSS}`).get()!;
          db.exec(`${change} WHERE id = ${LOSS}`);
        });
        await expectNamed('series "loss"');
        if (/ordinal|DELETE/.test(change)) await expect(read("loss"), change).rejects.toEqual(corrupt);
        tamper(data, (db) => {
          const columns = Object.keys(before);
          const places = columns.map(() => "?").join(", ");
          db.prepare(`INSERT OR REPLACE INTO chunk (${columns.join(", ")}) VALUES (${places})`).run(
            ...(Object.values(before) as (number | Uint8Array)[]),
          );
        });
        expect(await under.engine.integrity!.checkIntegrity()).toMatchObject({ problems: [] });
      }
      expect(bodyOf()).toEqual(body);
    });

    it("B3 names a page that is damaged, and the server starts", async () => {
      const body = bodyOf();
      await under.engine.close();
      const file = join(data, "cairn.db");
      const bytes = await readFile(file);
      const page = Math.floor(bytes.indexOf(body) / PAGE_BYTES);
      bytes[page * PAGE_BYTES] = 0xff;
      await writeFile(file, bytes);
      await reopen();
      await expect(read("loss")).rejects.toEqual(corrupt);
      const { problems } = await under.engine.integrity!.checkIntegrity();
      expect(problems.length).toBeGreaterThan(0);
      expect((await under.runs.verifyRun(id)).problems.length).toBeGreaterThan(0);
      expect(await getRuns(under.runs, [id])).toMatchObject([{ id }]);
    });
  });

  describe("in the log", () => {
    const second = "(SELECT min(pos) + 1 FROM log)";
    const damageLog = async (change: string, ...values: (number | Uint8Array)[]) => {
      await under.engine.close();
      tamper(data, (db) => db.prepare(`UPDATE log SET ${change} WHERE pos = ${second}`).run(...values));
      await reopen();
    };
    const damageBody = async () => {
      let body = new Uint8Array();
      tamper(data, (db) => {
        body = db.prepare(`SELECT body FROM log WHERE pos = ${second}`).get()!
          .body as Uint8Array<ArrayBuffer>;
      });
      await damageLog("body = ?", flipped(body, 9));
      return flipped(body, 9);
    };

    it("D9 B3 starts, refuses to read the series it held, names it, and does not affect the others", async () => {
      const damaged = await damageBody();
      for (let round = 0; round < 3; round++) {
        await expect(read("loss")).rejects.toEqual(refused("corrupt", "LOG_DAMAGED"));
        await expect(read("acc", { from: 100 })).rejects.toEqual(refused("corrupt", "LOG_DAMAGED"));
        expect(await read("other")).toEqual([7, 8, 9]);
        expect(await list()).toEqual([
          ["acc", 2],
          ["loss", 4],
          ["other", 3],
        ]);
        await expectNamed('series "loss", "acc" in envelope 2 of writer "w"');
        expect(await under.runs.verifyRun(id)).toMatchObject({
          points: 9,
          writers: [{ envelopes: 4, lastSeq: 4, lost: [], gaps: [{ first: 2, last: 2 }] }],
        });
        // At first in the log, then out of it, then after another start.
        if (round === 0) await under.settle();
        else await reopen();
      }
      let kept: unknown;
      tamper(data, (db) => (kept = db.prepare("SELECT body FROM damaged_log").get()!.body));
      expect(kept).toEqual(damaged);
    });

    it("D9 never folds a damaged row", async () => {
      await damageBody();
      for (let seq = 5; seq <= 8; seq++) {
        await appendOne(under.journal, envelope(id, seq, { series: [numbers("loss", [seq], 10 * seq)] }));
        await under.settle();
        await expect(read("loss")).rejects.toEqual(corrupt);
        await expectNamed('series "loss", "acc"');
      }
      let left: unknown;
      tamper(data, (db) => (left = db.prepare("SELECT count(*) AS n FROM log").get()!.n));
      expect(left).toBe(0);
    });

    it("E2 E3 recognizes the number of a damaged envelope", async () => {
      await damageBody();
      const again = () =>
        envelope(id, 2, { series: [numbers("loss", [2, 2.5], 4), numbers("acc", [-2], 2)] });
      for (let round = 0; round < 3; round++) {
        expect(await appendOne(under.journal, again())).toMatchObject({ duplicate: true });
        const other = appendOne(under.journal, envelope(id, 2));
        await expect(other).rejects.toEqual(refused("exists", "SEQ_REUSED"));
        if (round === 0) await under.settle();
        else await reopen();
      }
    });

    it.each([
      ["run", "run = run + 1"],
      ["writer", "writer = writer + 7"],
      ["seq", "seq = 77"],
      ["digest", "digest = digest + 1"],
      ["checksum", "crc = crc + 1"],
      ["checksum of the head", "head_crc = head_crc + 1"],
      ["series", "series = x'0200000001000000'"],
      ["length of the series", "series = x'020000'"],
    ])("D9 sees a changed %s in a row, and returns none of its points", async (_, change) => {
      await damageLog(change);
      for (let round = 0; round < 2; round++) {
        const { problems } = await under.engine.integrity!.checkIntegrity();
        expect(problems.at(-1)).toContain("log row 4 is damaged");
        expect(problems.every((problem) => problem.includes("log row 4"))).toBe(true);
        for (const key of ["loss", "acc"]) {
          const values = await read(key).catch((thrown: unknown) => thrown);
          if (Array.isArray(values)) expect(values).toEqual(key === "loss" ? [1, 1.5, 3, 3.5] : [-1, -3]);
          else expect(values).toEqual(corrupt);
        }
        await under.settle();
      }
      // The rest of the store is as well as before.
      const next = await createRun(under.runs);
      await appendOne(under.journal, envelope(next, 1, { series: [numbers("loss", [1])] }));
      await under.settle();
      expect(await readNumbers(under.points, next, "loss")).toEqual([1]);
    });

    it("D9 ignores damage to a row whose points are in chunks already", async () => {
      // As a kill between folding and deleting leaves it.
      await under.engine.close();
      let row: Record<string, unknown> = {};
      tamper(data, (db) => (row = db.prepare(`SELECT * FROM log WHERE pos = ${second}`).get()!));
      await reopen();
      await under.settle();
      await under.engine.close();
      const damaged = { ...row, body: flipped(row.body as Uint8Array, 9) };
      tamper(data, (db) =>
        db
          .prepare(
            `INSERT INTO log (${Object.keys(damaged).join(", ")}) VALUES (${Object.keys(damaged)
              .map(() => "?")
              .join(", ")})`,
          )
          .run(...(Object.values(damaged) as (number | Uint8Array)[])),
      );
      await reopen();
      for (let round = 0; round < 2; round++) {
        expect(await read("loss")).toEqual([1, 1.5, 2, 2.5, 3, 3.5]);
        expect(await under.engine.integrity!.checkIntegrity()).toEqual({ points: 12, runs: 1, problems: [] });
        await under.settle();
      }
    });

    it("D9 refuses a row that went bad while the server was running, until memory has repaired it", async () => {
      tamper(data, (db) => db.exec("UPDATE log SET body = zeroblob(length(body))"));
      await expect(read("loss")).rejects.toEqual(corrupt);
      expect((await under.engine.integrity!.checkIntegrity()).problems.length).toBeGreaterThan(0);
      // The thread that writes still has the acknowledged data.
      await under.settle();
      expect(await read("loss")).toEqual([1, 1.5, 2, 2.5, 3, 3.5]);
      expect(await under.engine.integrity!.checkIntegrity()).toEqual({ points: 12, runs: 1, problems: [] });
    });

    it("U6 purges damaged rows with their run", async () => {
      await damageBody();
      await under.settle();
      await under.runs.setDeleted(id, NOW_US, AUDIT);
      await under.runs.purgeRun(id, AUDIT);
      expect(await under.engine.integrity!.checkIntegrity()).toEqual({ points: 0, runs: 0, problems: [] });
    });
  });

  describe("in the state of a series", () => {
    it("D9 refuses to read it, names it, and continues with everything else", async () => {
      await under.settle();
      await under.engine.close();
      tamper(data, (db) => {
        const loss = db.prepare("SELECT id, state FROM series WHERE key = 'loss'").get()!;
        const damaged = flipped(loss.state as Uint8Array, 70);
        db.prepare("UPDATE series SET state = ? WHERE id = ?").run(damaged, loss.id!);
      });
      await reopen();
      for (let round = 0; round < 3; round++) {
        await expect(read("loss")).rejects.toEqual(corrupt);
        expect(await read("acc")).toEqual([-1, -2, -3]);
        expect((await list()).map(([key]) => key)).toEqual(["acc", "loss", "other"]);
        await expectNamed('series "loss": its summary is damaged');
        await under.feed.catchUp();
        const series = [numbers("loss", [9], 50 + round)];
        await appendOne(under.journal, envelope(id, 5 + round, { series }));
        await under.settle();
        await reopen();
      }
    });
  });
});
