import { expect, it } from "vitest";
import { labelsText, type Summary } from "#core/types/series.ts";
import { FeedRecorder, type FedNumbers } from "../feed-recorder.ts";
import {
  AUDIT,
  appendOne,
  createRun,
  envelope,
  getRun,
  NOW_US,
  numbers,
  points,
  refused,
  useStores,
  type OpenStores,
  selectOf,
} from "../stores.ts";

function numbersOf(summary: Summary): FedNumbers {
  return {
    count: summary.count,
    nanCount: summary.nanCount,
    first: summary.first?.value ?? NaN,
    last: summary.last?.value ?? NaN,
    min: summary.min?.value ?? NaN,
    max: summary.max?.value ?? NaN,
    sum: summary.sum,
    lastStep: summary.last?.step ?? NaN,
    minStep: summary.min?.step ?? NaN,
    maxStep: summary.max?.step ?? NaN,
  };
}

export function feedContract(open: OpenStores): void {
  const bench = useStores(open);
  const catchUp = () => bench.under.feed.catchUp();
  const fedRun = (id: string) => bench.under.feed.findRun(id);

  it("J1 begins with a reset, and positions rise from then on", async () => {
    await createRun(bench.runs);
    await catchUp();
    const { batches } = bench.under.feed;
    expect(batches[0]).toMatchObject({ reset: true });
    const scanned = batches.length;
    expect(batches[scanned - 1]!.mark.scanned).toBeUndefined();
    for (let i = 0; i < 3; i++) {
      await createRun(bench.runs);
      await catchUp();
    }
    expect(batches.slice(1).every(({ reset }) => !reset)).toBe(true);
    for (let i = scanned; i < batches.length; i++) {
      expect(batches[i]!.mark.position).toBeGreaterThan(batches[i - 1]!.mark.position);
    }
  });

  it("J2 the position changes only with acknowledged changes, and is that of the journal", async () => {
    const { changes } = bench.under;
    await createRun(bench.runs);
    const position = await catchUp();
    expect(changes.position()).toBe(position);
    expect((await bench.under.journal.changesSince(undefined, 0)).position).toBe(position);
    const count = bench.under.feed.batches.length;
    expect(await catchUp()).toBe(position);
    expect(bench.under.feed.batches).toHaveLength(count);
    await createRun(bench.runs);
    expect(changes.position()).toBeGreaterThan(position);
    await catchUp();
    expect(bench.under.feed.batches).toHaveLength(count + 1);
  });

  it("D4 sends the complete current state of every run", async () => {
    const id = await createRun(bench.runs, {
      namespace: "lab/asr",
      aliases: ["job"],
      params: new Map([["lr", "1.0"]]),
      tags: new Map([["__proto__", "x"]]),
    });
    await catchUp();
    const key = fedRun(id)!.key;
    const run = await getRun(bench.runs, id);
    const {
      provenance: _,
      tags,
      params: __,
      endedBy: ___,
      changedBy: ____,
      deletedBy: _____,
      ...plain
    } = run;
    const namespaceId = (await bench.namespaces.findNamespace("lab/asr"))!.id;
    expect(fedRun(id)).toEqual({
      ...plain,
      searchable: undefined,
      namespaceId,
      key,
      params: '{"lr":1.0}',
      tags: [...tags],
    });
    await bench.runs.updateRun(id, { name: "renamed", addAliases: ["two"], status: "failed" }, NOW_US + 1);
    await catchUp();
    expect(fedRun(id)).toMatchObject({ key, name: "renamed", aliases: ["job", "two"], endedUs: NOW_US + 1 });
    await appendOne(bench.journal, envelope(id, 1, { change: { params: new Map([["a", "[2]"]]) } }));
    await catchUp();
    expect(fedRun(id)).toMatchObject({ params: '{"a":[2],"lr":1.0}' });
    await bench.runs.setDeleted(id, NOW_US + 2, AUDIT);
    await catchUp();
    expect(fedRun(id)).toMatchObject({ deletedUs: NOW_US + 2 });
    await bench.runs.setDeleted(id, undefined, AUDIT);
    await bench.runs.updateRun(id, { status: "running", heartbeatSeconds: 1 }, NOW_US);
    await bench.runs.expireHeartbeats(NOW_US + 1e9);
    await catchUp();
    expect(fedRun(id)).toMatchObject({ deletedUs: undefined, status: "lost" });
  });

  it("sends nothing that was refused", async () => {
    const id = await createRun(bench.runs);
    await catchUp();
    const before = bench.under.feed.batches.length;
    const change = { name: "never" };
    await expect(appendOne(bench.journal, envelope(id, 7, { change }))).rejects.toEqual(
      refused("precondition"),
    );
    await expect(bench.runs.updateRun("0".repeat(32), change, NOW_US)).rejects.toEqual(refused("not-found"));
    await catchUp();
    const received = bench.under.feed.batches.slice(before);
    expect(received.flatMap(({ runs }) => runs.map(({ name }) => name))).not.toContain("never");
    expect(fedRun(id)).toMatchObject({ name: "a run" });
  });

  it("names a purged run by its key and does not reuse that key", async () => {
    const old = await createRun(bench.runs);
    await appendOne(bench.journal, envelope(old, 1, { series: [numbers("loss", [1])] }));
    await catchUp();
    const { key } = fedRun(old)!;
    await bench.runs.setDeleted(old, NOW_US, AUDIT);
    await bench.runs.purgeRun(old, AUDIT);
    const fresh = await createRun(bench.runs);
    await catchUp();
    expect(bench.under.feed.batches.flatMap(({ purged }) => purged)).toEqual([key]);
    expect(fedRun(old)).toBeUndefined();
    expect(fedRun(fresh)!.key).not.toBe(key);
    expect(bench.under.feed.findNumbers(fresh, "loss")).toBeUndefined();
    await bench.reopen();
    const later = await createRun(bench.runs);
    await catchUp();
    expect([key, fedRun(fresh)!.key]).not.toContain(fedRun(later)!.key);
  });

  it("D4 sends the numbers of every series that has some", async () => {
    const id = await createRun(bench.runs);
    const labels = [["rank", "0"]] as const;
    const series = [
      numbers("loss", [3, NaN, 1, 2], 10),
      numbers("loss", [5], 3, labels),
      { key: "flag", labels: [], points: points({ kind: "bool", data: Uint8Array.of(1, 0) }) },
      { key: "big", labels: [], points: points({ kind: "integer", data: BigInt64Array.of(7n) }) },
      { key: "note", labels: [], points: points({ kind: "text", data: ["x"] }) },
    ] as const;
    await appendOne(bench.journal, envelope(id, 1, { series }));
    await catchUp();
    const { feed } = bench.under;
    expect(feed.findNumbers(id, "loss")).toEqual({
      count: 4,
      nanCount: 1,
      first: 3,
      last: 2,
      min: 1,
      max: 3,
      sum: 6,
      lastStep: 13,
      minStep: 12,
      maxStep: 10,
    });
    expect(feed.findNumbers(id, "loss", labelsText(labels))).toMatchObject({
      count: 1,
      last: 5,
      lastStep: 3,
    });
    expect(feed.findNumbers(id, "flag")).toMatchObject({ count: 2, min: 0, max: 1, sum: 1, lastStep: NaN });
    expect(feed.findNumbers(id, "big")).toMatchObject({ count: 1, last: 7 });
    expect(feed.findNumbers(id, "note")).toBeUndefined();
  });

  it("O2 sends numbers that agree with the summaries, through rewinds, folds and restarts", async () => {
    const id = await createRun(bench.runs);
    const agree = async () => {
      await catchUp();
      const { series } = await selectOf(bench.points, id, { limit: 10 });
      for (const { key, labels, summary } of series) {
        expect(bench.under.feed.findNumbers(id, key, labelsText(labels))).toEqual(numbersOf(summary));
      }
      return series;
    };
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1, 2, 3, 4, 5])] }));
    await agree();
    // The same series twice in one envelope, and both parts go back behind what another writer wrote.
    const parts = [numbers("loss", [20, 30], 2), numbers("loss", [10, 11], 1)];
    await appendOne(bench.journal, envelope(id, 1, { writer: "v", series: parts }));
    expect(await agree()).toMatchObject([{ summary: { count: 5, replacedCount: 4, sum: 72 } }]);
    await bench.under.settle();
    await agree();
    await appendOne(
      bench.journal,
      envelope(id, 1, { writer: "u", series: [numbers("loss", [7], 2), ...parts] }),
    );
    await appendOne(bench.journal, envelope(id, 2, { series: [numbers("loss", [8], 0)] }));
    const before = await agree();
    await bench.reopen();
    expect(await agree()).toEqual(before);
    await bench.under.settle();
    expect(await agree()).toEqual(before);
  });

  it("J1 sends everything to a follower that begins after a restart", async () => {
    const ids = [];
    for (let i = 0; i < 5; i++) {
      const id = await createRun(bench.runs);
      ids.push(id);
      await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [i])] }));
      if (i === 2) await bench.under.settle();
    }
    await bench.reopen();
    await catchUp();
    expect(bench.under.feed.batches[0]).toMatchObject({ reset: true });
    for (const [i, id] of ids.entries()) {
      expect(bench.under.feed.findNumbers(id, "loss")).toMatchObject({ count: 1, last: i });
    }
  });

  it("J4 a part may be applied twice, and parts before it again", async () => {
    const ids = [];
    for (let i = 0; i < 4; i++) ids.push(await createRun(bench.runs));
    const { changes, feed } = bench.under;
    await catchUp();
    const mark = feed.batches.at(-1)!.mark;
    for (const [i, id] of ids.entries()) {
      await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [i, 2])] }));
    }
    await bench.runs.setDeleted(ids[0]!, NOW_US, AUDIT);
    await bench.runs.purgeRun(ids[0]!, AUDIT);
    await catchUp();
    const before = [
      [...feed.runs.values()],
      ids.map((id) => feed.findRun(id) && feed.findNumbers(id, "loss")),
    ];
    for (let i = 0; i < 2; i++) feed.take(await changes.runsSince(mark));
    expect([
      [...feed.runs.values()],
      ids.map((id) => feed.findRun(id) && feed.findNumbers(id, "loss")),
    ]).toEqual(before);
  });

  it("J4, J5: followers that stop after any part and begin later end with the same", async () => {
    const ids: string[] = [];
    const write = async (round: number) => {
      const id = await createRun(bench.runs, { name: `run ${round}` });
      ids.push(id);
      const series = [numbers("loss", [round]), numbers("acc", [1, round])];
      await appendOne(bench.journal, envelope(id, 1, { series }));
      await appendOne(
        bench.journal,
        envelope(ids[round - (round % 5)]!, 0, { series: [numbers("more", [round])] }),
      );
      if (round % 5 === 4) {
        await bench.runs.setDeleted(ids[round - 2]!, NOW_US, AUDIT);
        await bench.runs.purgeRun(ids[round - 2]!, AUDIT);
      }
      if (round % 7 === 3) await bench.under.settle();
    };
    const knows = (feed: FeedRecorder) =>
      ids.map((id) => {
        const keys = feed.findRun(id) === undefined ? [] : feed.metricKeys(id);
        return [feed.findRun(id), keys.toSorted().map((key) => [key, feed.findNumbers(id, key)])];
      });
    const followers = [bench.under.feed, new FeedRecorder(bench.under.changes)];
    for (let round = 0; round < 20; round++) {
      await write(round);
      // The second one sometimes reads a part, and is killed: only its mark is kept.
      if (round % 3 === 0) await followers[1]!.takeOne();
      if (round % 4 === 0) followers[1] = followers[1]!.resume(bench.under.changes);
      if (round === 10) {
        await bench.reopen();
        followers[0] = bench.under.feed;
        followers[1] = followers[1]!.resume(bench.under.changes);
      }
    }
    followers.push(new FeedRecorder(bench.under.changes));
    for (const follower of followers) await follower.catchUp();
    for (const follower of followers.slice(1)) expect(knows(follower)).toEqual(knows(followers[0]!));
    const { series } = await selectOf(bench.points, ids.at(-1)!, {
      limit: 10,
    });
    for (const { key, summary } of series) {
      expect(followers[1]!.findNumbers(ids.at(-1)!, key)).toEqual(numbersOf(summary));
    }
  });

  it("J4 changes are sent in parts, however many there are", async () => {
    const series = Array.from({ length: 3_000 }, (_, i) => numbers(`k${i}`, [i]));
    const ids: string[] = [];
    for (let i = 0; i < 9; i++) ids.push(await createRun(bench.runs));
    await catchUp();
    const behind = bench.under.feed.resume(bench.under.changes);
    for (const id of ids) await appendOne(bench.journal, envelope(id, 1, { series }));
    for (const follower of [behind, new FeedRecorder(bench.under.changes)]) {
      await follower.catchUp();
      const sizes = follower.batches.map(({ metrics }) => metrics?.runs.length ?? 0);
      expect(sizes.reduce((sum, size) => sum + size)).toBe(27_000);
      expect(Math.max(...sizes)).toBeLessThan(27_000);
      for (const id of ids) expect(follower.metricKeys(id)).toHaveLength(3_000);
    }
  });

  it("J4 a scan includes changes during it", async () => {
    const RUNS = 2_010;
    const make = () => createRun(bench.runs);
    const log = (id: string, seq: number) =>
      appendOne(bench.journal, envelope(id, seq, { series: [numbers("loss", [seq], seq)] }));
    const purge = async (id: string) => {
      await bench.runs.setDeleted(id, NOW_US, AUDIT);
      await bench.runs.purgeRun(id, AUDIT);
    };
    await Promise.all(Array.from({ length: RUNS }, make));
    await catchUp();
    // In the order in which they are scanned.
    const ids = Array.from(bench.under.feed.runs.values(), ({ id }) => id);
    const [purged, renamed, logged] = [0, 1, 2].map((at) => [ids[at]!, ids.at(-1 - at)!]) as [
      string[],
      string[],
      string[],
    ];
    for (const id of [...purged, ...renamed, ...logged]) await log(id, 1);
    const follower = new FeedRecorder(bench.under.changes);
    let parts = 0;
    let mark;
    do {
      await follower.takeOne();
      parts++;
      ({ mark } = follower.batches.at(-1)!);
      expect(mark.position).toBe(bench.under.changes.position());
      if (parts === 1) {
        for (const id of purged) await purge(id);
        for (const id of renamed) await bench.runs.updateRun(id, { name: "renamed" }, NOW_US);
      }
      const created = await make();
      for (const id of [created, ...logged]) await log(id, id === created ? 1 : parts + 1);
      ids.push(created);
    } while (mark.scanned !== undefined && parts < 10);
    expect(parts).toBeLessThan(10);
    const known = async (feed: FeedRecorder) => {
      await feed.catchUp();
      return ids.map((id) => [feed.findRun(id), feed.findNumbers(id, "loss")]);
    };
    const expected = await known(new FeedRecorder(bench.under.changes));
    expect(await known(follower)).toEqual(expected);
    expect(purged.map((id) => follower.findRun(id))).toEqual([undefined, undefined]);
    expect(renamed.map((id) => follower.findRun(id)!.name)).toEqual(["renamed", "renamed"]);
    for (const id of logged) expect(follower.findNumbers(id, "loss")).toMatchObject({ count: parts + 1 });
  });

  it("J1 a mark of another journal, or of an unknown position, starts from the beginning", async () => {
    const id = await createRun(bench.runs);
    await catchUp();
    const { mark } = bench.under.feed.batches.at(-1)!;
    const { changes } = bench.under;
    expect(await changes.runsSince(mark)).toMatchObject({ reset: false, runs: [] });
    const unknown = [
      undefined,
      { ...mark, journal: "0".repeat(64) },
      { ...mark, position: mark.position + 1 },
      { ...mark, position: -1 },
    ];
    for (const one of unknown) {
      expect(await changes.runsSince(one)).toMatchObject({ reset: true, runs: [{ id }] });
    }
  });
}
