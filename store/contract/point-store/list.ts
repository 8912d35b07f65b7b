import { expect, it } from "vitest";
import type { Labels } from "#core/types/series.ts";
import type { MetricKey, SelectSeries } from "#core/ports/point-store.ts";
import {
  appendOne,
  createRun,
  envelope,
  EVERYTHING,
  inEveryForm,
  numbers,
  readNumbers,
  refused,
  selectOf,
  useSharedStores,
  type OpenStores,
} from "../stores.ts";

const ODD_KEYS = [
  "__proto__",
  "constructor",
  "a.b.c",
  'a{b="c"}',
  "🐈 é",
  "a b",
  "%_*?[x]",
  "\\",
  "'; drop table series; --",
];

const ODD_LABELS: Labels[] = [
  [],
  [["__proto__", "x"]],
  [["a", ""]],
  [["a", "b=c,d"]],
  [["🐈", "é {}"]],
  [
    ["a", "1"],
    ["b", "2"],
  ],
  [["a", "1b"]],
];

export function listContract(open: OpenStores): void {
  const bench = useSharedStores(open);
  const list = (runId: string, request: Partial<SelectSeries> = {}) => selectOf(bench.points, runId, request);
  const keysOf = async (runId: string, regex: string) =>
    (await list(runId, { pattern: { regex } })).series.map(({ key }) => key);

  it("V9 lists the keys of a run with the common properties of their series, in parts of any size", async () => {
    const id = await createRun(bench.runs);
    const ranks = ["", "0", "1", "2", "3"].map((rank) =>
      numbers("a", [1, 2], 0, rank === "" ? [] : [["rank", rank]]),
    );
    await appendOne(bench.journal, envelope(id, 1, { series: [...ranks, numbers("b", [1, 2, 3])] }));
    // A restart that begins at an earlier step replaces points.
    await appendOne(bench.journal, envelope(id, 1, { writer: "again", series: [numbers("b", [7], 1)] }));
    await inEveryForm(bench, async () => {
      const { series } = await list(id);
      for (const limit of [1, 2, 3, 5, 6, 7, 100]) {
        const keys: MetricKey[] = [];
        let after: string | undefined;
        do {
          const part = await bench.points.listMetricKeys({ runId: id, after, limit });
          expect(part.keys.reduce((sum, { seriesCount }) => sum + seriesCount, 0)).toBeLessThanOrEqual(limit);
          keys.push(...part.keys);
          after = part.next;
        } while (after !== undefined);
        for (const key of ["a", "b"]) {
          const parts = keys.filter((part) => part.key === key);
          const whole = series.filter((one) => one.key === key);
          const sum = (of: (part: MetricKey) => number) => parts.reduce((all, part) => all + of(part), 0);
          expect(sum(({ seriesCount }) => seriesCount)).toBe(whole.length);
          expect(sum(({ replacedCount }) => replacedCount)).toBe(
            whole.reduce((all, { summary }) => all + summary.replacedCount, 0),
          );
          expect(parts.some(({ hasLabels }) => hasLabels)).toBe(key === "a");
          const times = whole.flatMap(({ summary }) => summary.first?.timeUs ?? []);
          const first = Math.min(...parts.map(({ firstTimeUs }) => firstTimeUs ?? Infinity));
          expect(first).toBe(Math.min(...times));
        }
      }
    });
    const none = await bench.points.listMetricKeys({ runId: "none", after: undefined, limit: 10 });
    expect(none).toEqual({ keys: [], next: undefined });
  });

  it("S27 stops a read whose signal is aborted, with its reason", async () => {
    const id = await createRun(bench.runs);
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("a", [1, 2])] }));
    const gone = new AbortController();
    const reason = new Error("the caller disconnected");
    const request: SelectSeries = {
      scope: { owners: [{ runId: id }] },
      matchers: [],
      lookMax: 10,
      pattern: undefined,
      after: undefined,
      limit: 10,
      bytesMax: Infinity,
      isCounted: false,
    };
    const waiting = Array.from({ length: 20 }, () => bench.points.selectSeries(request, gone.signal));
    gone.abort(reason);
    for (const read of await Promise.allSettled(waiting)) {
      expect(read).toEqual({ status: "rejected", reason });
    }
    await expect(bench.points.selectSeries(request, gone.signal)).rejects.toBe(reason);
    expect((await bench.points.selectSeries(request)).series).toHaveLength(1);
  });

  it("lists series with their kinds and labels, rising by key, then by labels", async () => {
    const id = await createRun(bench.runs);
    const other = await createRun(bench.runs);
    const named = (key: string, ranks: string[]) =>
      ranks.map((rank) => numbers(key, [1], 0, rank === "" ? [] : [["rank", rank]]));
    const series = [...named("b", ["10", "2", ""]), ...named("a", ["1"]), ...named("B", [""])];
    await appendOne(bench.journal, envelope(id, 1, { series }));
    await appendOne(bench.journal, envelope(other, 1, { series: [numbers("theirs", [1])] }));
    await inEveryForm(bench, async () => {
      const listed = await list(id);
      expect(listed.series.map(({ key, labels }) => [key, labels[0]?.[1]])).toEqual([
        ["B", undefined],
        ["a", "1"],
        ["b", undefined],
        ["b", "10"],
        ["b", "2"],
      ]);
      expect(listed).toMatchObject({ total: 5, next: undefined });
      expect(listed.series.every(({ kind, summary }) => kind === "number" && summary.count === 1)).toBe(true);
    });
  });

  it("lists no series of an unknown run", async () => {
    expect(await list("0".repeat(32))).toEqual({ series: [], total: 0, next: undefined });
    const selectors = [{ runId: "0".repeat(32), key: "loss", labels: undefined }];
    expect(await bench.points.readSeries({ ...EVERYTHING, selectors })).toEqual({
      series: [],
      grid: undefined,
    });
  });

  it("returns pages that miss nothing and repeat nothing, also while series are added", async () => {
    const id = await createRun(bench.runs);
    const key = (i: number) => `k${String(i).padStart(3, "0")}`;
    const series = Array.from({ length: 25 }, (_, i) => numbers(key(2 * i), [i]));
    await appendOne(bench.journal, envelope(id, 1, { series }));
    const found: string[] = [];
    let after: string | undefined;
    for (let page = 0; ; page++) {
      const listed = await list(id, { limit: 7, after });
      found.push(...listed.series.map((one) => one.key));
      expect(listed.total).toBe(25 + page);
      after = listed.next;
      if (after === undefined) break;
      // Before rows that were listed already: it must not shift the pages.
      await appendOne(bench.journal, envelope(id, 2 + page, { series: [numbers(`a${page}`, [1])] }));
    }
    expect(found).toEqual(Array.from({ length: 25 }, (_, i) => key(2 * i)));
    const exact = await list(id, { limit: 28 });
    expect(exact).toMatchObject({ total: 28, next: undefined });
  });

  it("refuses an invalid page token", async () => {
    const id = await createRun(bench.runs);
    for (const after of ["nonsense", "", "e30", Buffer.from("[1,2]").toString("base64url")]) {
      await expect(list(id, { after })).rejects.toEqual(refused("invalid", "PAGE_TOKEN"));
    }
  });

  it("finds keys by pattern, anywhere in the key, and pages within them", async () => {
    const id = await createRun(bench.runs);
    const keys = ["train/loss", "train/acc", "val/loss", "val/acc", "LOSS"];
    const labels = [["r", "1"]] as const;
    const series = keys.flatMap((key) => [numbers(key, [1]), numbers(key, [2], 0, labels)]);
    await appendOne(bench.journal, envelope(id, 1, { series }));
    expect(await keysOf(id, "loss")).toEqual(["train/loss", "train/loss", "val/loss", "val/loss"]);
    expect(await keysOf(id, "^val/")).toEqual(["val/acc", "val/acc", "val/loss", "val/loss"]);
    expect(await keysOf(id, "^(?i)loss$")).toEqual(["LOSS", "LOSS"]);
    expect(await keysOf(id, "nothing")).toEqual([]);
    const first = await list(id, { pattern: { regex: "loss" }, limit: 3 });
    expect(first).toMatchObject({ total: 4 });
    const second = await list(id, { pattern: { regex: "loss" }, limit: 3, after: first.next });
    expect(second.series.map(({ key }) => key)).toEqual(["val/loss"]);
    expect(second).toMatchObject({ total: 4, next: undefined });
  });

  it("distinguishes unusual keys and labels", async () => {
    const id = await createRun(bench.runs);
    const all = ODD_KEYS.flatMap((key) => ODD_LABELS.map((labels) => ({ key, labels })));
    const series = all.map(({ key, labels }, i) => numbers(key, [i], i, labels));
    await appendOne(bench.journal, envelope(id, 1, { series }));
    await inEveryForm(bench, async () => {
      const listed = await list(id);
      expect(listed.total).toBe(all.length);
      const names = (some: readonly { key: string; labels: Labels }[]) =>
        some.map(({ key, labels }) => JSON.stringify([key, labels])).toSorted();
      expect(names(listed.series)).toEqual(names(all));
      for (const [i, { key, labels }] of all.entries()) {
        expect(await readNumbers(bench.points, id, key, { labels })).toEqual([i]);
      }
    });
  });

  it("P6 reads every label set of a key, in the requested order, and none twice", async () => {
    const id = await createRun(bench.runs);
    const rank = (n: number) => [["rank", String(n)]] as const;
    const series = [
      numbers("loss", [2], 0, rank(2)),
      numbers("loss", [1], 0, rank(1)),
      numbers("loss", [0]),
      numbers("acc", [9]),
    ];
    await appendOne(bench.journal, envelope(id, 1, { series }));
    await inEveryForm(bench, async () => {
      const selectors = [
        { runId: id, key: "acc", labels: [] },
        { runId: id, key: "loss", labels: undefined },
        { runId: id, key: "loss", labels: rank(2) },
        { runId: id, key: "loss", labels: rank(7) },
      ];
      const { series: read } = await bench.points.readSeries({ ...EVERYTHING, selectors });
      const values = read.map(({ data }) => (data.form === "exact" ? data.points.values.data[0] : undefined));
      // Rank 2 is named twice and returned once.
      expect(values).toEqual([9, 0, 1, 2]);
      expect(read.every(({ runId, kind }) => runId === id && kind === "number")).toBe(true);
      expect(read.map(({ labels }) => labels.length)).toEqual([0, 0, 1, 1]);
    });
  });
}
