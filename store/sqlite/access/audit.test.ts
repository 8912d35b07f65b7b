import { createHash } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chainHash } from "#core/access/audit/audit-chain.ts";
import { CHANGED } from "#core/ports/journal.ts";
import { AUDIT, createRun } from "#store/contract/stores.ts";
import { openIn, openOnDisk, tamper } from "../testing/under-test.ts";

const ENTRIES = 6;
/** The last version whose entries had no token and no address. */
const OLD_FORMAT = 5;

describe("the audit in SQLite", () => {
  let under: Awaited<ReturnType<typeof openOnDisk>>;

  beforeEach(async () => {
    under = await openOnDisk();
    for (let i = 1; i <= ENTRIES; i++) {
      const record = { ...AUDIT, target: `run-${i}`, facts: { namespace: "lab" }, timeUs: i };
      await under.access.changeAccess([], [record]);
    }
  });
  afterEach(() => under.discard());

  /** Like an attacker who has the file and knows its schema. */
  const forge = (change: (db: DatabaseSync) => void) =>
    tamper(under.data, (db) => {
      for (const { name } of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all()) {
        db.exec(`DROP TRIGGER ${String(name)}`);
      }
      change(db);
    });
  const verdict = () => under.access.verifyAudit();
  /** So that it cannot be read any more. */
  const damageAudit = () => {
    let page = 0;
    tamper(under.data, (db) => {
      const row = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'audit'").get()!;
      page = Number(row["rootpage"]);
    });
    const file = openSync(join(under.data, "cairn.db"), "r+");
    writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, (page - 1) * 4096);
    closeSync(file);
  };

  it("A16 A37 S22 continues the entries of a store from before tokens and addresses", async () => {
    const directory = await mkdtemp(join(tmpdir(), "cairn-store-"));
    const data = join(directory, "data");
    await mkdir(data);
    const db = new DatabaseSync(join(data, "cairn.db"));
    const folder = new URL("../file/migrations/", import.meta.url);
    for (const file of (await readdir(folder)).sort().slice(0, OLD_FORMAT)) {
      db.exec(await readFile(new URL(file, folder), "utf8"));
    }
    db.exec(`PRAGMA user_version = ${OLD_FORMAT}`);
    let last = "0".repeat(64);
    for (let i = 1; i <= 3; i++) {
      const text = `{"action":"log-in","facts":{"token":"0${i}"},"number":${i},"principal":"ada","target":"ada","time_us":${i}}`;
      last = createHash("sha256")
        .update(last + text)
        .digest("hex");
      db.prepare("INSERT INTO audit VALUES (?, ?, 'ada', 'log-in', 'ada', ?, ?)").run(
        i,
        i,
        `{"token":"0${i}"}`,
        last,
      );
      db.prepare("UPDATE audit_head SET count = ?, hash = ?").run(i, last);
    }
    db.close();
    const old = await openIn(directory, data);
    try {
      expect(await old.access.verifyAudit()).toEqual({ entries: 3, problems: [] });
      expect(await old.access.getAuditHead()).toEqual({ count: 3, hash: last });
      await old.access.changeAccess([], [{ ...AUDIT, token: "t", address: "10.0.0.1" }]);
      expect(await old.access.verifyAudit()).toEqual({ entries: 4, problems: [] });
      const asked = { principal: undefined, action: undefined, target: undefined, before: undefined };
      expect(await old.access.listAudit({ ...asked, after: 2, limit: 9 })).toMatchObject([
        { number: 3, token: "", address: "", facts: { token: "03" } },
        { number: 4, token: "t", address: "10.0.0.1" },
      ]);
    } finally {
      await old.discard();
    }
  });

  it("S22 finds no problem in an intact audit", async () => {
    forge(() => undefined);
    expect(await verdict()).toEqual({ entries: ENTRIES, problems: [] });
  });

  it.each([
    "time_us = 99",
    "principal = 'eve'",
    "action = 'x'",
    "target = ''",
    "token = 't'",
    "address = '10.0.0.1'",
    `facts = '{"namespace":"x"}'`,
  ])("S22 A16 names the entry that was altered: %s", async (set) => {
    forge((db) => db.exec(`UPDATE audit SET ${set} WHERE number = 3`));
    const { problems } = await verdict();
    expect(problems).toEqual(["entry 3 was altered, or entry 2 before it was replaced"]);
  });

  it.each(['facts = \'{ "namespace":"lab" }\'', "facts = 'nonsense'", "facts = 'null'", "hash = ''"])(
    "S22 A16 also detects changes that keep the meaning, or have none: %s",
    async (set) => {
      forge((db) => db.exec(`UPDATE audit SET ${set} WHERE number = 3`));
      expect((await verdict()).problems[0]).toMatch(/^entry 3 was altered/);
    },
  );

  it("S22 A16 detects a number above all others", async () => {
    forge((db) => db.exec("UPDATE audit SET time_us = 9223372036854775807 WHERE number = 1"));
    expect((await verdict()).problems).toEqual(["entry 1 was altered"]);
  });

  it("S22 A16 names an entry that was altered together with its hash", async () => {
    forge((db) => {
      const row = db.prepare("SELECT hash FROM audit WHERE number = 2").get()!;
      const record = { ...AUDIT, principal: "eve", target: "run-3", facts: { namespace: "lab" }, timeUs: 3 };
      const hash = chainHash(String(row["hash"]), 3, record);
      db.prepare("UPDATE audit SET principal = 'eve', hash = ? WHERE number = 3").run(hash);
    });
    expect((await verdict()).problems).toEqual(["entry 4 was altered, or entry 3 before it was replaced"]);
  });

  it("S22 A16 names the last entry when it was altered together with its hash", async () => {
    forge((db) => {
      const row = db.prepare("SELECT hash FROM audit WHERE number = 5").get()!;
      const record = { ...AUDIT, target: "other", facts: { namespace: "lab" }, timeUs: 6 };
      const hash = chainHash(String(row["hash"]), 6, record);
      db.prepare("UPDATE audit SET target = 'other', hash = ? WHERE number = 6").run(hash);
    });
    expect((await verdict()).problems).toEqual(["entry 6 is not the one that was written last"]);
  });

  it.each([
    ["number = 3", ["entry 3 was removed"]],
    ["number IN (3, 4)", ["entries 3 to 4 were removed"]],
    ["number = 1", ["entry 1 was removed"]],
    ["number = 6", ["entry 6 was removed"]],
    ["number > 4", ["entries 5 to 6 were removed"]],
    ["1", ["entries 1 to 6 were removed"]],
    ["number IN (2, 6)", ["entry 2 was removed", "entry 6 was removed"]],
  ])("S22 A16 names what was removed: %s", async (which, problems) => {
    forge((db) => db.exec(`DELETE FROM audit WHERE ${which}`));
    expect((await verdict()).problems).toEqual(problems);
  });

  it("S22 A16 detects that an entry was removed when the others were renumbered", async () => {
    forge((db) => {
      db.exec("DELETE FROM audit WHERE number = 3");
      for (const number of [4, 5, 6])
        db.exec(`UPDATE audit SET number = ${number - 1} WHERE number = ${number}`);
      db.exec("UPDATE audit_head SET count = 5");
    });
    expect((await verdict()).problems[0]).toMatch(/^entry 3 was altered/);
  });

  it("S22 A16 detects inserted entries, in the middle and at the end", async () => {
    const copy = (number: number) =>
      `INSERT INTO audit SELECT ${number}, time_us, principal, action, target, facts, hash, token, address FROM audit WHERE number = 2`;
    forge((db) => {
      for (const number of [6, 5, 4])
        db.exec(`UPDATE audit SET number = ${number + 1} WHERE number = ${number}`);
      db.exec(copy(4));
      db.exec("UPDATE audit_head SET count = 7");
    });
    expect((await verdict()).problems[0]).toMatch(/^entry 4 was altered/);
    forge((db) => {
      db.exec("DELETE FROM audit WHERE number > 3");
      db.exec(copy(4));
      db.exec("UPDATE audit_head SET count = 3");
    });
    expect((await verdict()).problems).toEqual([
      "entry 4 was altered, or entry 3 before it was replaced",
      "entry 4 was added from outside",
    ]);
  });

  it("S22 A16 detects a head that was removed or set back", async () => {
    forge((db) =>
      db.exec("UPDATE audit_head SET count = 5, hash = (SELECT hash FROM audit WHERE number = 5)"),
    );
    expect((await verdict()).problems).toEqual(["entry 6 was added from outside"]);
    forge((db) => db.exec("DELETE FROM audit_head"));
    expect((await verdict()).problems).toEqual(["the head that names the last entry was removed"]);
  });

  it("S22 B3 the integrity check includes problems of the audit", async () => {
    expect((await under.engine.integrity!.checkIntegrity()).problems).toEqual([]);
    forge((db) => db.exec("DELETE FROM audit WHERE number = 4"));
    expect((await under.engine.integrity!.checkIntegrity()).problems).toEqual(["audit: entry 4 was removed"]);
  });

  it("A18 a damaged audit does not prevent a restore, and the audit of the copy continues", async () => {
    const copy = join(under.directory, "copy.db");
    await under.engine.copies!.backup(copy);
    await under.access.changeAccess([], [AUDIT]);
    await under.settle();
    damageAudit();
    await under.engine.copies!.restore(copy, { audit: { ...AUDIT, action: "restore-backup" } });
    expect(await verdict()).toEqual({ entries: ENTRIES + 1, problems: [] });
    const asked = { principal: undefined, target: undefined, before: undefined, limit: 1 };
    const [entry] = await under.access.listAudit({ ...asked, action: "restore-backup" });
    expect(entry?.facts).toEqual({ audit: "as in the copy, because the present one is damaged" });
  });

  it("A18 B1 each restore over a damaged audit begins above all positions before it", async () => {
    const copy = join(under.directory, "copy.db");
    await under.engine.copies!.backup(copy);
    const position = async () => (await under.journal.changesSince(undefined, CHANGED.access)).position;
    for (let round = 0; round < 2; round++) {
      await under.access.changeAccess([], [AUDIT]);
      await createRun(under.runs);
      await under.settle();
      const before = await position();
      damageAudit();
      await under.engine.copies!.restore(copy, { audit: AUDIT });
      expect(await position()).toBe(before + 1);
    }
  });

  it("S22 names no more than 100 problems", async () => {
    await under.access.changeAccess(
      [],
      Array.from({ length: 150 }, () => AUDIT),
    );
    forge((db) => db.exec("UPDATE audit SET principal = 'eve'"));
    expect((await verdict()).problems).toHaveLength(100);
  });

  it.each([
    "UPDATE audit SET principal = 'eve' WHERE number = 3",
    "DELETE FROM audit WHERE number = 6",
    "INSERT INTO audit VALUES (9, 0, '', '', '', '{}', '', '', '')",
    "INSERT OR REPLACE INTO audit VALUES (3, 0, '', '', '', '{}', '', '', '')",
    "UPDATE audit_head SET count = 2",
    "DELETE FROM audit_head",
    "INSERT OR REPLACE INTO audit_head VALUES (1, 0, '')",
  ])("S22 refuses in the database itself: %s", async (sql) => {
    tamper(under.data, (db) => expect(() => db.exec(sql)).toThrow(/the audit/));
    expect(await verdict()).toEqual({ entries: ENTRIES, problems: [] });
  });
});
