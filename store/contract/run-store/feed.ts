import { expect, it } from "vitest";
import { labelsText, type Summary } from "#core/types/series.ts";
import type { FedNumbers } from "../feed-recorder.ts";
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
  };
}

export function feedContract(open: OpenStores): void {
  const bench = useStores(open);
  const catchUp = () => bench.under.feed.catchUp(bench.runs);
  const fedRun = (id: string) => bench.under.feed.findRun(id);

  it("begins with a reset and rises from batch to batch", async () => {
    await createRun(bench.runs);
    await catchUp();
    const { batches } = bench.under.feed;
    expect(batches[0]).toMatchObject({ reset: true });
    for (let i = 0; i < 3; i++) {
      await createRun(bench.runs);
      await catchUp();
    }
    expect(batches.slice(1).every(({ reset }) => !reset)).toBe(true);
    for (let i = 1; i < batches.length; i++) {
      expect(batches[i]!.position).toBeGreaterThan(batches[i - 1]!.position);
    }
  });

  it("says nothing when nothing changed", async () => {
    await createRun(bench.runs);
    const position = await catchUp();
    const count = bench.under.feed.batches.length;
    expect(await bench.runs.publish()).toBe(position);
    expect(await bench.runs.publish()).toBe(position);
    await createRun(bench.runs);
    await catchUp();
    expect(bench.under.feed.batches).toHaveLength(count + 1);
  });

  it("D4 tells every run as it is now, whole", async () => {
    const id = await createRun(bench.runs, {
      namespace: "lab/asr",
      aliases: ["job"],
      params: new Map([["lr", "1.0"]]),
      tags: new Map([["__proto__", "x"]]),
    });
    await catchUp();
    const key = fedRun(id)!.key;
    const run = await getRun(bench.runs, id);
    const { provenance: _, tags, params: __, ...plain } = run;
    expect(fedRun(id)).toEqual({ ...plain, key, params: '{"lr":1.0}', tags: [...tags] });
    await bench.runs.updateRun(id, { name: "renamed", addAliases: ["two"], status: "failed" }, NOW_US + 1);
    await catchUp();
    expect(fedRun(id)).toMatchObject({ key, name: "renamed", aliases: ["job", "two"], endedUs: NOW_US + 1 });
    await appendOne(bench.runs, envelope(id, 1, { change: { params: new Map([["a", "[2]"]]) } }));
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

  it("tells of nothing that was refused", async () => {
    const id = await createRun(bench.runs);
    await catchUp();
    const before = bench.under.feed.batches.length;
    const change = { name: "never" };
    await expect(appendOne(bench.runs, envelope(id, 7, { change }))).rejects.toEqual(refused("precondition"));
    await expect(bench.runs.updateRun("0".repeat(32), change, NOW_US)).rejects.toEqual(refused("not-found"));
    await catchUp();
    const told = bench.under.feed.batches.slice(before);
    expect(told.flatMap(({ runs }) => runs.map(({ name }) => name))).not.toContain("never");
    expect(fedRun(id)).toMatchObject({ name: "a run" });
  });

  it("names a purged run by its key and gives that key to no other", async () => {
    const old = await createRun(bench.runs);
    await appendOne(bench.runs, envelope(old, 1, { series: [numbers("loss", [1])] }));
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

  it("D4 tells the numbers of every series that has some", async () => {
    const id = await createRun(bench.runs);
    const labels = [["rank", "0"]] as const;
    const series = [
      numbers("loss", [3, NaN, 1, 2], 10),
      numbers("loss", [5], 3, labels),
      { key: "flag", labels: [], points: points({ kind: "bool", data: Uint8Array.of(1, 0) }) },
      { key: "big", labels: [], points: points({ kind: "integer", data: BigInt64Array.of(7n) }) },
      { key: "note", labels: [], points: points({ kind: "text", data: ["x"] }) },
    ] as const;
    await appendOne(bench.runs, envelope(id, 1, { series }));
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

  it("O2 tells numbers that agree with the summaries, through rewinds, folds and restarts", async () => {
    const id = await createRun(bench.runs);
    const agree = async () => {
      await catchUp();
      const { series } = await selectOf(bench.points, id, { limit: 10 });
      for (const { key, labels, summary } of series) {
        expect(bench.under.feed.findNumbers(id, key, labelsText(labels))).toEqual(numbersOf(summary));
      }
      return series;
    };
    await appendOne(bench.runs, envelope(id, 1, { series: [numbers("loss", [1, 2, 3, 4, 5])] }));
    await agree();
    // The same series twice in one envelope, and both parts go back behind what another writer wrote.
    const parts = [numbers("loss", [20, 30], 2), numbers("loss", [10, 11], 1)];
    await appendOne(bench.runs, envelope(id, 1, { writer: "v", series: parts }));
    expect(await agree()).toMatchObject([{ summary: { count: 5, replacedCount: 4, sum: 72 } }]);
    await bench.under.settle();
    await agree();
    await appendOne(
      bench.runs,
      envelope(id, 1, { writer: "u", series: [numbers("loss", [7], 2), ...parts] }),
    );
    await appendOne(bench.runs, envelope(id, 2, { series: [numbers("loss", [8], 0)] }));
    const before = await agree();
    await bench.reopen();
    expect(await agree()).toEqual(before);
    await bench.under.settle();
    expect(await agree()).toEqual(before);
  });

  it("tells everything anew after a restart", async () => {
    const ids = [];
    for (let i = 0; i < 5; i++) {
      const id = await createRun(bench.runs);
      ids.push(id);
      await appendOne(bench.runs, envelope(id, 1, { series: [numbers("loss", [i])] }));
      if (i === 2) await bench.under.settle();
    }
    await bench.reopen();
    await catchUp();
    expect(bench.under.feed.batches[0]).toMatchObject({ reset: true });
    for (const [i, id] of ids.entries()) {
      expect(bench.under.feed.findNumbers(id, "loss")).toMatchObject({ count: 1, last: i });
    }
  });
}
