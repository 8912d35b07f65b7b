import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import {
  appendOne,
  AUDIT,
  envelope,
  hostEnvelope,
  NOW_US,
  numbers,
  readNumbers,
  refused,
  selectOf,
} from "#store/contract/stores.ts";
import { flipped, openIn, openOnDisk, tamper, unpackStore } from "../testing/under-test.ts";

const HOST = { namespace: "lab", name: "n1" };
const exhausted = refused("exhausted", "LIMIT_EXCEEDED");

it("V21 refuses more hosts than a namespace may have, and accepts those it has", async () => {
  const under = await openOnDisk();
  const write = (name: string, namespace = "lab") =>
    appendOne(under.journal, hostEnvelope({ namespace, name }, [numbers("cpu", [1])]));
  await write("first");
  tamper(under.data, (db) => {
    db.prepare("UPDATE host_count SET count = ?").run(limits.hostsPerNamespaceMax - 1);
  });
  await write("last");
  await expect(write("more")).rejects.toEqual(exhausted);
  await write("first");
  await write("more", "lab/b");
  // One goes, one comes.
  const all = { matchers: [], axis: "step", from: undefined, to: undefined, after: undefined } as const;
  const owner = { host: { namespace: "lab", name: "first" } };
  await under.points.deleteSeries({ ...all, owner, pointsMax: 10, seriesMax: 10 }, AUDIT);
  await write("more");
  await expect(write("first")).rejects.toEqual(exhausted);
  await under.discard();
});

it("V21 refuses more series than a host may have with nothing stored", async () => {
  const under = await openOnDisk();
  const write = (...keys: string[]) =>
    appendOne(
      under.journal,
      hostEnvelope(
        HOST,
        keys.map((key) => numbers(key, [1])),
      ),
    );
  await write("a");
  tamper(under.data, (db) => {
    db.prepare("UPDATE host SET series_count = ?").run(limits.seriesPerRunMax - 1);
  });
  await expect(write("b", "c")).rejects.toEqual(exhausted);
  await write("b");
  await expect(write("c")).rejects.toEqual(exhausted);
  await write("a", "b");
  expect((await selectOf(under.points, { host: HOST })).series.map(({ key }) => key)).toEqual(["a", "b"]);
  await under.discard();
});

it("V23 D9 damage to points of a host is named, and its points are never returned", async () => {
  const under = await openOnDisk();
  await appendOne(under.journal, hostEnvelope(HOST, [numbers("cpu", [1, 2])]));
  await under.settle();
  await appendOne(under.journal, hostEnvelope({ ...HOST, name: "n2" }, [numbers("mem", [3])]));
  const { engine } = under;
  await engine.close();
  tamper(under.data, (db) => {
    const [chunk] = db.prepare("SELECT id, body FROM chunk").all();
    const body = chunk!["body"] as Uint8Array;
    db.prepare("UPDATE chunk SET body = ?").run(flipped(body, body.length - 3));
    const [row] = db.prepare("SELECT body FROM log").all();
    db.prepare("UPDATE log SET body = ?").run(flipped(row!["body"] as Uint8Array, 9));
  });
  const again = await openIn(under.directory, under.data);
  expect((await again.engine.integrity!.checkIntegrity()).problems.sort()).toEqual([
    'host "n1": series "cpu": its points from number 0 on are damaged',
    'host "n2": series "mem": log row 3 with some of its points is damaged',
    'log row 3 is damaged: points of series "mem" in an envelope are lost',
  ]);
  for (const [name, key] of [
    ["n1", "cpu"],
    ["n2", "mem"],
  ] as const) {
    await expect(readNumbers(again.points, { host: { ...HOST, name } }, key)).rejects.toEqual(
      refused("corrupt"),
    );
  }
  await again.discard();
});

it("V23 D12 a store of format 13 keeps the series of its runs, takes hosts, and a purge still destroys series", async () => {
  const [first, trashed] = ["1", "3"].map((digit) => digit.padStart(32, "0")) as [string, string];
  const { directory, data } = await unpackStore("format-13.db.gz");
  let ids: number[] = [];
  const count = (sql: string) => {
    let found = 0;
    tamper(data, (db) => (found = Number(Object.values(db.prepare(sql).get()!)[0])));
    return found;
  };
  tamper(data, (db) => {
    ids = db
      .prepare("SELECT id FROM series ORDER BY id")
      .all()
      .map(({ id }) => Number(id));
    // The last number that was given out is of a series that is gone.
    db.prepare("UPDATE sqlite_sequence SET seq = 70 WHERE name = 'series'").run();
  });
  const under = await openIn(directory, data);
  expect(await readNumbers(under.points, first, "loss")).toEqual([1, 2, 3, 4, 5]);
  expect((await under.engine.info()).series).toBe(ids.length);
  const host = { namespace: "lab/old", name: "n1" };
  await appendOne(under.journal, hostEnvelope(host, [numbers("cpu", [1, 2])]));
  expect(count("SELECT max(id) FROM series")).toBe(71);
  await under.settle();
  await appendOne(under.journal, envelope(trashed, 0, { series: [numbers("fresh", [1])] }));
  await under.runs.setDeleted(first, NOW_US, AUDIT);
  await under.runs.purgeRun(first, AUDIT);
  await under.runs.purgeRun(trashed, AUDIT);
  expect(count("SELECT count(*) FROM series WHERE run > 0 AND run NOT IN (SELECT key FROM run)")).toBe(0);
  expect(count("SELECT count(*) FROM series WHERE run < 0")).toBe(1);
  expect(await readNumbers(under.points, { host }, "cpu")).toEqual([1, 2]);
  expect((await under.engine.integrity!.checkIntegrity()).problems).toEqual([]);
  await under.discard();
});
