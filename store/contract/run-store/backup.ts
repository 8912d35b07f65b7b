import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Follower } from "#core/journal/follower.ts";
import { CHANGED } from "#core/ports/journal.ts";
import { Changes } from "#core/watch/changes.ts";
import {
  AUDIT,
  ackOf,
  appendOne,
  createRun,
  envelope,
  getRun,
  getRuns,
  hostEnvelope,
  inEveryForm,
  needsCapability,
  NOW_US,
  numbers,
  readNumbers,
  refused,
  useStores,
  type OpenStores,
  selectOf,
} from "../stores.ts";

export function backupContract(open: OpenStores, restores: boolean): void {
  const bench = useStores(open);
  needsCapability(bench, "copies");
  const file = (name: string) => join(bench.under.directory, name);

  it("B1 refuses to make a backup over a file that exists", async () => {
    await writeFile(file("copy.db"), "precious");
    await expect(bench.engine.copies!.backup(file("copy.db"))).rejects.toEqual(refused("exists"));
  });

  if (!restores) {
    it("B1 makes a copy, and reports that it cannot restore one", async () => {
      await createRun(bench.runs);
      await bench.engine.copies!.backup(file("copy.db"));
      await access(file("copy.db"));
      await expect(bench.engine.copies!.restore(file("copy.db"), { audit: AUDIT })).rejects.toEqual(
        refused("precondition"),
      );
    });
    return;
  }

  it("V23 B1 restores the hosts of a backup, and removes later ones", async () => {
    const host = { namespace: "lab", name: "n1" };
    await appendOne(bench.journal, hostEnvelope(host, [numbers("cpu", [1, 2])]));
    await bench.under.settle();
    await appendOne(bench.journal, hostEnvelope(host, [numbers("cpu", [3], 2)]));
    await bench.engine.copies!.backup(file("copy.db"));
    await appendOne(bench.journal, hostEnvelope(host, [numbers("cpu", [4], 3)]));
    await appendOne(bench.journal, hostEnvelope({ namespace: "late", name: "n2" }, [numbers("cpu", [1])]));
    await bench.engine.copies!.restore(file("copy.db"), { audit: AUDIT });
    await inEveryForm(bench, async () => {
      const page = { under: "", after: undefined, limit: 9, bytesMax: Infinity };
      expect((await bench.points.listHosts(page)).rows).toMatchObject([{ ...host, seriesCount: 1 }]);
      expect(await readNumbers(bench.points, { host }, "cpu")).toEqual([1, 2, 3]);
    });
    await appendOne(bench.journal, hostEnvelope(host, [numbers("cpu", [5], 4)]));
    expect(await readNumbers(bench.points, { host }, "cpu")).toEqual([1, 2, 3, 5]);
  });

  it("B1 restores exactly the content of a backup", async () => {
    const id = await createRun(bench.runs, { params: new Map([["a", "1.0"]]) });
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1, NaN, 3])] }));
    await bench.under.settle();
    await appendOne(bench.journal, envelope(id, 2, { series: [numbers("loss", [4], 3)] }));
    const before = [await getRun(bench.runs, id), await bench.runs.verifyRun(id)];
    await bench.under.feed.catchUp();
    await bench.engine.copies!.backup(file("copy.db"));

    await appendOne(
      bench.journal,
      envelope(id, 3, { series: [numbers("loss", [5], 4)], change: { name: "later" } }),
    );
    const later = await createRun(bench.runs);
    await bench.engine.copies!.restore(file("copy.db"), { audit: AUDIT });

    const check = async () => {
      expect([await getRun(bench.runs, id), await bench.runs.verifyRun(id)]).toEqual(before);
      expect(await getRuns(bench.runs, [later])).toEqual([]);
      expect(await readNumbers(bench.points, id, "loss")).toEqual([1, NaN, 3, 4]);
      await bench.under.feed.catchUp();
      expect([...bench.under.feed.runs.values()].map((run) => run.id)).toEqual([id]);
      expect(bench.under.feed.findNumbers(id, "loss")).toMatchObject({ count: 4 });
    };
    await check();
    const { batches } = bench.under.feed;
    const again = batches.findLastIndex(({ reset }) => reset);
    expect(again).toBeGreaterThan(0);
    expect(batches[again]!.mark.position).toBeGreaterThan(batches[again - 1]!.mark.position);
    expect(batches[again]!.mark.journal).not.toBe(batches[again - 1]!.mark.journal);
    await bench.reopen();
    await check();
    expect(await appendOne(bench.journal, envelope(id, 3))).toMatchObject({ duplicate: false });
  });

  it("B1 all followers of the journal notice every restore, also of the same backup again", async () => {
    await createRun(bench.runs);
    await bench.engine.copies!.backup(file("copy.db"));
    const changes = new Changes(bench.journal);
    const follower = new Follower(bench.journal);
    let followed: unknown;
    follower.follow(CHANGED.access, (what) => void (followed = what));
    const catchUp = async () => {
      followed = "nothing";
      await Promise.all([changes.catchUp(), follower.catchUp(), bench.under.feed.catchUp()]);
    };
    await catchUp();
    const host = { namespace: "lab", name: "n1" };
    for (let round = 0; round < 3; round++) {
      await createRun(bench.runs);
      // Points of hosts have positions, too.
      for (let i = 0; i < 4; i++)
        await appendOne(bench.journal, hostEnvelope(host, [numbers("cpu", [i], i)]));
      await catchUp();
      const { epoch, position } = changes;
      const { mark } = bench.under.feed.batches.at(-1)!;
      await bench.engine.copies!.restore(file("copy.db"), { audit: AUDIT });
      await catchUp();
      expect(changes.epoch).not.toBe(epoch);
      expect(changes.resetAt).toBeGreaterThan(position);
      expect(followed).toBeUndefined();
      expect(bench.under.feed.batches.at(-1)!.mark.journal).not.toBe(mark.journal);
      expect(bench.under.feed.runs.size).toBe(1);
    }
    changes.stop();
    follower.stop();
  });

  it("B1 copies one moment during writes", async () => {
    const id = await createRun(bench.runs);
    const writes: Promise<unknown>[] = [];
    const copies: Promise<void>[] = [];
    for (let seq = 1; seq <= 400; seq++) {
      const series = [numbers("a", [seq], seq), numbers("b", [seq], seq)];
      writes.push(
        bench.journal.append([envelope(id, seq, { series })], NOW_US).then(([done]) => ackOf(done)),
      );
      if (seq % 100 === 50) copies.push(bench.engine.copies!.backup(file(`copy-${seq}.db`)));
      if (seq % 100 === 75) writes.push(bench.under.settle());
      if (seq % 20 === 0) await writes.at(-1);
    }
    await Promise.all([...writes, ...copies]);
    for (const seq of [50, 150, 250, 350]) {
      await bench.engine.copies!.restore(file(`copy-${seq}.db`), { audit: AUDIT });
      const a = await readNumbers(bench.points, id, "a");
      // All that was acknowledged before the backup began, and of each envelope all or nothing.
      expect(a.length).toBeGreaterThanOrEqual(seq - 20);
      expect(a).toEqual(Array.from(a, (_, i) => i + 1));
      expect(await readNumbers(bench.points, id, "b")).toEqual(a);
      const { writers, problems } = await bench.runs.verifyRun(id);
      expect({ writers, problems }).toMatchObject({
        writers: [{ lastSeq: a.length, gaps: [] }],
        problems: [],
      });
    }
  });

  it("B1 calls wait for a restore, and earlier ones are applied first", async () => {
    const id = await createRun(bench.runs);
    await bench.engine.copies!.backup(file("copy.db"));
    const before = bench.journal.append([envelope(id, 1, { series: [numbers("gone", [1])] })], NOW_US);
    const read = getRuns(bench.runs, [id]);
    const restored = bench.engine.copies!.restore(file("copy.db"), { audit: AUDIT });
    const again = bench.engine.copies!.restore(file("copy.db"), { audit: AUDIT });
    const after = bench.journal.append([envelope(id, 1, { series: [numbers("kept", [1])] })], NOW_US);
    const reads = [getRuns(bench.runs, [id]), selectOf(bench.points, id, { limit: 9 })];
    expect(ackOf((await before)[0])).toMatchObject({ duplicate: false });
    expect(await read).toMatchObject([{ id }]);
    await Promise.all([restored, again]);
    expect(ackOf((await after)[0])).toMatchObject({ duplicate: false });
    await Promise.all(reads);
    const { series } = await selectOf(bench.points, id, { limit: 9 });
    expect(series.map(({ key }) => key)).toEqual(["kept"]);
  });

  it("B1 saves the state at the moment of the restore", async () => {
    const id = await createRun(bench.runs);
    await bench.engine.copies!.backup(file("copy.db"));
    const write = bench.journal.append([envelope(id, 1, { series: [numbers("loss", [1])] })], NOW_US);
    await bench.engine.copies!.restore(file("copy.db"), { audit: AUDIT, keepAside: file("aside.db") });
    ackOf((await write)[0]);
    expect(await bench.engine.info()).toMatchObject({ points: 0 });
    await bench.engine.copies!.restore(file("aside.db"), { audit: AUDIT });
    expect(await readNumbers(bench.points, id, "loss")).toEqual([1]);
  });

  it("B1 changes nothing when a backup cannot be used", async () => {
    const id = await createRun(bench.runs);
    await writeFile(file("nonsense.db"), "this is no database, by a wide margin".repeat(100));
    await writeFile(file("empty.db"), "");
    for (const name of ["missing.db", "nonsense.db", "empty.db"]) {
      await expect(bench.engine.copies!.restore(file(name), { audit: AUDIT })).rejects.toMatchObject({
        name: "CairnError",
      });
      expect(await getRun(bench.runs, id)).toMatchObject({ id });
    }
    const taken = bench.engine.copies!.restore(file("missing.db"), {
      audit: AUDIT,
      keepAside: file("empty.db"),
    });
    await expect(taken).rejects.toEqual(refused("not-found"));
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1])] }));
    expect(await readNumbers(bench.points, id, "loss")).toEqual([1]);
  });
}
