import { expect, it } from "vitest";
import { CHANGED, CHANGED_RUNS } from "#core/ports/journal.ts";
import type { Host, OwnedSeries, SeriesScope } from "#core/ports/point-store.ts";
import type { HostName } from "#core/types/host.ts";
import {
  ackOf,
  appendOne,
  AUDIT,
  createRun,
  envelope,
  EVERYTHING,
  expectIntact,
  hostEnvelope,
  inEveryForm,
  NOW_US,
  numbers,
  type OpenStores,
  points,
  readNumbers,
  readPoints,
  refused,
  selectOf,
  useStores,
} from "../stores.ts";

const HOST: HostName = { namespace: "lab/machines", name: "gpu-01.example" };
const EVERY = { matchers: [], axis: "step", from: undefined, to: undefined, after: undefined } as const;
const IN_PARTS = { pointsMax: 1_000_000, seriesMax: 1 };

export function hostsContract(open: OpenStores): void {
  const bench = useStores(open);
  const write = (host: HostName, ...series: Parameters<typeof hostEnvelope>[1][number][]) =>
    appendOne(bench.journal, hostEnvelope(host, series));
  const list = async (under = ""): Promise<Host[]> => {
    const hosts: Host[] = [];
    for (;;) {
      const page = { under, after: hosts.at(-1), limit: 2, bytesMax: Infinity };
      const { rows, more } = await bench.points.listHosts(page);
      hosts.push(...rows);
      if (!more) return hosts;
    }
  };
  const names = async (under = "") => (await list(under)).map(({ namespace, name }) => [namespace, name]);

  it("V15 V16 a host begins with its first envelope, with its namespace, and keeps every point", async () => {
    expect(await write(HOST, numbers("cpu", [1, 2]), numbers("mem", [5]))).toEqual({
      seq: 0,
      duplicate: false,
      points: 3,
    });
    await bench.under.settle();
    // The steps go back: without writers nothing is replaced.
    await write(HOST, numbers("cpu", [3, 4]), numbers("cpu", [0.5], 9, [["core", "0"]]));
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, { host: HOST }, "cpu")).toEqual([1, 3, 2, 4]);
      const { series, total } = await selectOf(bench.points, { host: HOST });
      expect(series.map(({ key, labels, host }) => [key, labels, host])).toEqual([
        ["cpu", [], HOST],
        ["cpu", [["core", "0"]], HOST],
        ["mem", [], HOST],
      ]);
      expect(series[0]!.summary).toMatchObject({ count: 4, replacedCount: 0, last: { value: 4 } });
      expect(total).toBe(3);
      expect(await list()).toEqual([{ ...HOST, seriesCount: 3, writtenUs: NOW_US }]);
      expect(await bench.namespaces.findNamespace("lab/machines")).toMatchObject({ createdUs: NOW_US });
      await expectIntact(bench, { points: 6, runs: 0 });
      expect(await bench.engine.info()).toMatchObject({ runs: 0, series: 3, points: 6 });
    });
  });

  it("V16 keeps values of every kind, and refuses another kind with nothing stored", async () => {
    const times = Float64Array.of(NOW_US, NOW_US + 1);
    const values = [
      { kind: "number", data: Float64Array.of(NaN, -0) },
      { kind: "integer", data: BigInt64Array.of(2n ** 62n + 1n, -1n) },
      { kind: "bool", data: Uint8Array.of(1, 0) },
      { kind: "text", data: ["up", ""] },
    ] as const;
    const columns = { times, nanos: Uint16Array.of(0, 999) };
    const series = values.map((one) => ({ key: one.kind, labels: [], points: points(one, columns) }));
    await write(HOST, ...series);
    const other = hostEnvelope(HOST, [numbers("fresh", [1]), numbers("text", [1])]);
    await expect(appendOne(bench.journal, other)).rejects.toEqual(refused("invalid", "KIND_MISMATCH"));
    const twice = [numbers("a", [1]), { ...series[3]!, key: "a" }];
    const fresh = hostEnvelope({ namespace: "new", name: "h" }, twice);
    await expect(appendOne(bench.journal, fresh)).rejects.toEqual(refused("invalid", "KIND_MISMATCH"));
    await inEveryForm(bench, async () => {
      for (const one of values) {
        expect((await readPoints(bench.points, { host: HOST }, one.kind)).values).toEqual(one);
      }
      expect((await selectOf(bench.points, { host: HOST })).series).toHaveLength(4);
      expect(await names()).toEqual([[HOST.namespace, HOST.name]]);
      expect(await bench.namespaces.findNamespace("new")).toBeUndefined();
    });
  });

  it("V15 a host is deleted with its last series, and starts empty when it is written again", async () => {
    await write(HOST, numbers("cpu", [1]), numbers("mem", [2]));
    await bench.under.settle();
    await write(HOST, numbers("cpu", [3], 1));
    const remove = (after: string | undefined) =>
      bench.points.deleteSeries({ owner: { host: HOST }, ...EVERY, ...IN_PARTS, after }, AUDIT);
    const before = (await bench.under.access.getAuditHead()).count;
    const first = await remove(undefined);
    expect(first).toMatchObject({ series: 1, points: 2 });
    expect(await list()).toMatchObject([{ seriesCount: 1 }]);
    expect(await remove(first.next)).toEqual({ series: 1, points: 1, next: undefined });
    expect((await bench.under.access.getAuditHead()).count).toBe(before + 2);
    expect(await remove(undefined)).toEqual({ series: 0, points: 0, next: undefined });
    await inEveryForm(bench, async () => {
      expect(await list()).toEqual([]);
      expect((await selectOf(bench.points, { host: HOST })).series).toEqual([]);
      const selectors = [{ host: HOST, key: "cpu", labels: [] }];
      expect((await bench.points.readSeries({ ...EVERYTHING, selectors })).series).toEqual([]);
    });
    await bench.namespaces.deleteNamespace(HOST.namespace, AUDIT);
    await write(HOST, { key: "cpu", labels: [], points: points({ kind: "text", data: ["x"] }) });
    await inEveryForm(bench, async () => {
      const { series } = await selectOf(bench.points, { host: HOST });
      expect(series).toMatchObject([{ key: "cpu", kind: "text", summary: { count: 1 } }]);
      await expectIntact(bench, { points: 1 });
    });
  });

  it("V22 a namespace that holds hosts is not deleted", async () => {
    await write(HOST, numbers("cpu", [1]));
    const remove = bench.namespaces.deleteNamespace(HOST.namespace, AUDIT);
    await expect(remove).rejects.toEqual(
      refused("precondition", "NAMESPACE_NOT_EMPTY", {
        message: 'cannot delete namespace "lab/machines": it holds 1 host',
      }),
    );
    expect(await readNumbers(bench.points, { host: HOST }, "cpu")).toEqual([1]);
  });

  it("V18 selects hosts of a namespace only on request, after all runs, in pages of any size", async () => {
    const runId = await createRun(bench.runs, { namespace: "a/b" });
    await appendOne(bench.journal, envelope(runId, 1, { series: [numbers("x", [1])] }));
    const made: [string, string][] = [
      ["a", "z"],
      ["a/b", "m"],
      ["a/b", "n"],
      ["a-b", "m"],
      ["secret", "m"],
    ];
    for (const [namespace, name] of made) {
      await write({ namespace, name }, numbers("x", [1], 0, [["at", namespace]]), numbers("y", [1]));
    }
    const readable = {
      id: "hosts",
      namespaces: new Map([
        ["", true],
        ["secret", false],
      ]),
      runs: new Map([[runId, false]]),
    };
    const found = async (scope: SeriesScope, lookMax: number, limit: number) => {
      const all: OwnedSeries[] = [];
      let after: string | undefined;
      do {
        const page = await selectOf(bench.points, "", { scope, lookMax, limit, after });
        const token = Buffer.from(page.next ?? "", "base64url").toString();
        if (scope === hidden) expect(token).not.toContain("secret");
        all.push(...page.series);
        after = page.next;
      } while (after !== undefined);
      return all.map(({ runId: run, host, key }) => `${run ?? `${host.namespace}:${host.name}`} ${key}`);
    };
    const hidden: SeriesScope = { under: "", hosts: true, readable };
    const everything: SeriesScope = { under: "", hosts: true, readable: undefined };
    await inEveryForm(bench, async () => {
      for (const [lookMax, limit] of [
        [1_000, 1_000],
        [3, 2],
        [2, 1],
      ] as const) {
        const both = (...places: string[]) => places.flatMap((place) => [`${place} x`, `${place} y`]);
        const run = `${runId} x`;
        expect(await found({ under: "", readable: undefined }, lookMax, limit)).toEqual([run]);
        expect(await found(everything, lookMax, limit)).toEqual([
          run,
          ...both("a:z", "a-b:m", "a/b:m", "a/b:n", "secret:m"),
        ]);
        expect(await found({ ...everything, under: "a" }, lookMax, limit)).toEqual([
          run,
          ...both("a:z", "a/b:m", "a/b:n"),
        ]);
        expect(await found(hidden, lookMax, limit)).toEqual(both("a:z", "a-b:m", "a/b:m", "a/b:n"));
      }
      const asked = { matchers: [], lookMax: 1_000, label: "at", after: undefined, limit: 10 };
      const labels = async (scope: SeriesScope) =>
        (await bench.points.listLabels({ ...asked, scope })).texts.map(({ text, seriesCount }) => [
          text,
          seriesCount,
        ]);
      expect(await labels({ under: "", readable: undefined })).toEqual([]);
      expect(await labels(hidden)).toEqual([
        ["a", 1],
        ["a-b", 1],
        ["a/b", 2],
      ]);
    });
  });

  it("V19 lists the hosts of a namespace and below it, with their series and their last write", async () => {
    await write({ namespace: "a/b", name: "n" }, numbers("x", [1]), numbers("y", [1]));
    await appendOne(
      bench.journal,
      hostEnvelope({ namespace: "a/b", name: "n" }, [numbers("x", [1])]),
      NOW_US + 7,
    );
    await write({ namespace: "a", name: "ü" }, numbers("x", [1]));
    await write({ namespace: "a", name: "o p/q" }, numbers("x", [1]));
    await write({ namespace: "ab", name: "n" }, numbers("x", [1]));
    expect(await names()).toEqual([
      ["a", "o p/q"],
      ["a", "ü"],
      ["a/b", "n"],
      ["ab", "n"],
    ]);
    expect(await names("a")).toHaveLength(3);
    expect(await list("a/b")).toEqual([
      { namespace: "a/b", name: "n", seriesCount: 2, writtenUs: NOW_US + 7 },
    ]);
    expect(await list("none")).toEqual([]);
  });

  it("V20 points of a host are not a change: they wake no subscriber and move no position of runs", async () => {
    const { journal, feed, changes } = bench.under;
    const runId = await createRun(bench.runs);
    await appendOne(journal, envelope(runId, 1, { series: [numbers("loss", [1])] }));
    await write(HOST, numbers("cpu", [1]));
    await feed.catchUp();
    const known = changes.position();
    let woken = 0;
    const unsubscribe = journal.subscribe(() => woken++);
    for (let i = 0; i < 3; i++) {
      const [outcome] = await journal.append([hostEnvelope(HOST, [numbers("cpu", [i], i)])], NOW_US);
      expect(ackOf(outcome).points).toBe(1);
      expect(outcome).toMatchObject({ position: undefined });
    }
    expect(woken).toBe(0);
    expect(changes.position()).toBe(known);
    const all = Object.values(CHANGED).reduce((sum, kind) => sum | kind, 0);
    expect((await journal.changesSince(known, all)).changes).toEqual([]);
    // A new namespace is one.
    await write({ namespace: "other", name: "h" }, numbers("cpu", [1]));
    expect(woken).toBeGreaterThan(0);
    unsubscribe();
    await appendOne(journal, envelope(runId, 2, { series: [numbers("loss", [2], 1)] }));
    expect(changes.position()).toBeGreaterThan(known);
    expect((await journal.changesSince(known, CHANGED_RUNS)).changes).toMatchObject([{ runId }]);
    await feed.catchUp();
    expect(feed.findNumbers(runId, "loss")).toMatchObject({ count: 2 });
    const scanned = await changes.runsSince(undefined);
    let batch = scanned;
    const runs = new Set<number>();
    for (; batch.mark.scanned !== undefined; batch = await changes.runsSince(batch.mark)) {
      for (const key of batch.metrics?.runs ?? []) runs.add(key);
    }
    for (const key of batch.metrics?.runs ?? []) runs.add(key);
    expect([...runs]).toHaveLength(1);
  });

  it("V20 reuses no position when the last ones were of hosts", async () => {
    const runId = await createRun(bench.runs);
    await appendOne(bench.journal, envelope(runId, 1, { series: [numbers("loss", [1])] }));
    for (let i = 0; i < 5; i++) await write(HOST, numbers("cpu", [i], i));
    // The log is empty now, and the folded data has the last position.
    await bench.under.settle();
    await bench.reopen();
    await appendOne(bench.journal, envelope(runId, 2, { series: [numbers("loss", [2], 1)] }));
    await write(HOST, numbers("cpu", [5], 5));
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, runId, "loss")).toEqual([1, 2]);
      expect(await readNumbers(bench.points, { host: HOST }, "cpu")).toEqual([0, 1, 2, 3, 4, 5]);
    });
  });
}
