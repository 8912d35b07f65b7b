import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { sizeOf } from "#core/types/size.ts";
import { reference } from "../artifact-samples.ts";
import { asked, buildCore, CALLER } from "../core-under-test.ts";
import { callerWithout } from "../masked-caller.ts";
import {
  appendOne,
  createRun,
  envelope,
  newNamespace,
  NOW_US,
  numbers,
  refused,
  useStores,
  type OpenStores,
} from "../stores.ts";
import { WatchReader } from "../watch/reader.ts";

const PAGE = { query: "", namespace: "", trashed: false, pageSize: 0, pageToken: "", columns: [] };
/** As long as a text may be in most places. */
const LONG = "x".repeat(64_000);
/** More than fit into one answer. */
const MANY = Math.ceil(limits.pageBytesMax / LONG.length) + 20;

/** Answers are bounded in bytes, and the rest is on the next page. */
export function coreBoundsContract(open: OpenStores): void {
  const bench = useStores(open);
  const core = () => buildCore(bench.under, { waveMs: 1 });

  it("Q8 ends a page of large runs early, and continues right after it", async () => {
    const { runs } = await core();
    const notes = "x".repeat(limits.notesBytesMax);
    const names: string[] = [];
    for (let i = 0; i < 20; i++) {
      names.push(`r${String(i).padStart(2, "0")}`);
      await runs.create(CALLER, asked({ name: names[i]!, notes }));
    }
    const found: string[] = [];
    const sizes: number[] = [];
    let pageToken = "";
    do {
      const query = "order by name asc";
      const page = await runs.search(CALLER, { ...PAGE, query, pageToken, columns: ["notes"] });
      expect(page.totalCount).toBe(20);
      expect(sizeOf(page.runs)).toBeLessThan(limits.pageBytesMax * 1.01);
      found.push(...page.runs.map(({ run }) => run.name));
      sizes.push(page.runs.length);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(found).toEqual(names);
    expect(sizes).toEqual([15, 5]);
    // Parts that were not requested take no space.
    expect((await runs.search(CALLER, PAGE)).runs).toHaveLength(20);
  });

  it("Q8 ends a page early when the names of its metrics fill it", async () => {
    const { runs } = await core();
    for (let i = 0; i < 20; i++) await runs.create(CALLER, asked());
    const columns = Array.from({ length: 5_000 }, (_, i) => `metrics.k${i}${"x".repeat(490)}.min`);
    const page = await runs.search(CALLER, { ...PAGE, columns: [...columns, ...columns] });
    expect(page.runs).toHaveLength(6);
    expect(page.nextPageToken).not.toBe("");
  });

  it("Q8 returns a single part of large runs in one page", async () => {
    const { runs } = await core();
    const params = new Map(Array.from({ length: 32 }, (_, i) => [`p${i}`, `"${LONG}"`]));
    for (let i = 0; i < 12; i++) await runs.create(CALLER, asked({ params: new Map(params).set("lr", "1") }));
    const page = await runs.search(CALLER, { ...PAGE, columns: ["params.lr"] });
    expect(page.runs.map(({ run }) => [...run.params])).toEqual(page.runs.map(() => [["lr", "1"]]));
    expect(page.runs).toHaveLength(12);
    expect(page.nextPageToken).toBe("");
  });

  it("Q8 ends pages of namespaces and keys early, also where most are hidden", async () => {
    const { namespaces, metricKeys } = await core();
    for (let i = 0; i < MANY; i++) {
      const path = `n${String(i).padStart(4, "0")}`;
      await bench.namespaces.createNamespace(newNamespace(path, { description: LONG }));
      await bench.namespaces.describeKey({
        namespace: "lab",
        key: path,
        unit: "",
        direction: undefined,
        description: LONG,
        picture: undefined,
      });
    }
    const all = await pagesOf(async (pageToken) => {
      const page = await namespaces.list(CALLER, { under: "", pageSize: 10_000, pageToken });
      return { items: page.namespaces, nextPageToken: page.nextPageToken };
    });
    expect(all.pages).toBe(2);
    expect(all.items.map(({ path }) => path)).toEqual(["lab", ...all.items.slice(1).map(({ path }) => path)]);
    expect(new Set(all.items.map(({ path }) => path)).size).toBe(MANY + 1);
    const hidden = all.items.map(({ path }) => path).filter((path) => path !== "n0003" && path !== "n0270");
    const eve = callerWithout({ namespaces: hidden }, "read");
    const seen = await namespaces.list(eve, { under: "", pageSize: 1, pageToken: "" });
    expect([seen.namespaces.map(({ path }) => path), seen.nextPageToken]).toEqual([["n0003"], "n0003"]);
    const rest = await namespaces.list(eve, { under: "", pageSize: 1, pageToken: "n0003" });
    expect([rest.namespaces.map(({ path }) => path), rest.nextPageToken]).toEqual([["n0270"], ""]);

    const keys = await pagesOf(async (pageToken) => {
      const page = await metricKeys.list(CALLER, { namespace: "lab/below", pageSize: 0, pageToken });
      return { items: page.keys, nextPageToken: page.nextPageToken };
    });
    expect([keys.pages, keys.items.length]).toEqual([2, MANY]);
    const few = await metricKeys.list(CALLER, { namespace: "lab", pageSize: 2, pageToken: "n0001" });
    expect(few.keys.map(({ key }) => key)).toEqual(["n0002", "n0003"]);
  });

  it("Q8 ends pages of series early, and V9 says when keys do not fit", async () => {
    const { metrics } = await core();
    const id = await createRun(bench.runs);
    const run = { by: "id", id } as const;
    const count = 34_000;
    const key = (i: number) => `${String(i).padStart(6, "0")}${"k".repeat(500)}`;
    for (let at = 0; at < count; at += 17_000) {
      const series = Array.from({ length: 17_000 }, (_, i) => numbers(key(at + i), [1]));
      await appendOne(bench.journal, envelope(id, 1 + at / 17_000, { series }));
    }
    const first = await metrics.list(CALLER, {
      among: { runs: [run] },
      matchers: [],
      glob: "",
      regex: "",
      pageSize: 10_000,
      pageToken: "",
    });
    expect(first.series.length).toBe(10_000);
    const labels = Array.from(
      { length: 16 },
      (_, i) => [`l${i}${"x".repeat(100)}`, "y".repeat(120)] as const,
    );
    const labelled = await createRun(bench.runs);
    const series = Array.from({ length: 5_000 }, (_, i) =>
      numbers("k", [1], 0, [["a", String(i).padStart(4, "0")], ...labels.slice(1)]),
    );
    await appendOne(bench.journal, envelope(labelled, 1, { series }));
    const listed = await pagesOf(async (pageToken) => {
      const page = await metrics.list(CALLER, {
        among: { runs: [{ by: "id", id: labelled }] },
        matchers: [],
        glob: "",
        regex: "",
        pageSize: 10_000,
        pageToken,
      });
      expect(page.total).toBe(5_000);
      return { items: page.series, nextPageToken: page.next ?? "" };
    });
    expect([listed.pages, listed.items.length]).toEqual([2, 5_000]);
    const same = await metrics.listRunKeys(CALLER, [run, run, { by: "path", namespace: "lab", id }], 0);
    expect(same.runs).toHaveLength(1);
    expect(same.truncated).toBe(true);
    expect(sizeOf(same.keys)).toBeLessThan(1.25 * limits.pageBytesMax);
    expect(same.keys.every(({ seriesCount, runCount }) => seriesCount === 1 && runCount === 1)).toBe(true);
  });

  it("G5 groups runs with large params part by part, and refuses values that are too long together", async () => {
    const { runs, groups } = await core();
    for (let i = 0; i < 20; i++) {
      const params = new Map(Array.from({ length: 16 }, (_, k) => [`p${k}`, `"${i}${LONG}"`]));
      await runs.create(CALLER, asked({ params: params.set("lr", String(i % 2)) }));
    }
    const read = (groupBy: string[]) =>
      groups.read(CALLER, {
        groups: [],
        query: "",
        namespace: "",
        groupBy,
        key: "loss",
        labels: undefined,
        axis: "step",
        from: undefined,
        to: undefined,
        buckets: 0,
        quantiles: [],
        form: "text",
      });
    expect((await read(["params.lr"])).groups.map(({ runIds }) => runIds.length)).toEqual([10, 10]);
    const all = Array.from({ length: 16 }, (_, k) => `params.p${k}`);
    await expect(read(all)).rejects.toEqual(refused("exhausted", "LIMIT_EXCEEDED"));
  });

  it("I5 truncates a lineage that becomes too large, and says so", async () => {
    const { lineage } = await core();
    const { links, artifacts } = bench.under;
    const child = await createRun(bench.runs);
    const add = (source: string, artifact = "") =>
      links.addSource({ childId: child, source, artifact, createdUs: NOW_US });
    const parent = await createRun(bench.runs);
    const metadata = new Map([["a", `"${LONG}"`]]);
    for (let i = 0; i < 100; i++) {
      await artifacts.putArtifact(parent, reference({ name: `m${i}`, kind: "model", metadata }), NOW_US);
      await artifacts.putArtifact(child, reference({ name: `m${i}`, kind: "model", metadata }), NOW_US);
      await artifacts.putArtifact(parent, reference({ name: `f${i}`, metadata }), NOW_US);
      await add(parent, `f${i}`);
    }
    const graph = () => lineage.get(CALLER, { run: { by: "id", id: child }, direction: "both", depth: 0 });
    const drawn = await graph();
    expect(drawn.truncated).toBe(true);
    expect(drawn.nodes).toHaveLength(2);
    expect(drawn.edges).toHaveLength(100);
    expect(sizeOf(drawn)).toBeLessThan(1.1 * limits.pageBytesMax);
    await Promise.all(
      Array.from({ length: 8_500 }, (_, i) => add(`${i}${"s".repeat(1_000)}`, "a".repeat(1_000))),
    );
    const large = await graph();
    expect(large.truncated).toBe(true);
    expect(sizeOf(large)).toBeLessThan(1.1 * limits.pageBytesMax);
    const page = { artifact: undefined, pageSize: 10_000 };
    const sources = await pagesOf(async (pageToken) => {
      const given = await lineage.listSources(CALLER, { by: "id", id: child }, { ...page, pageToken });
      return { items: given.sources, nextPageToken: given.nextPageToken };
    });
    expect([sources.pages, sources.items.length]).toEqual([2, 8_600]);
  });

  it("H11 sends large runs in several events", async () => {
    const built = await core();
    const reader = await WatchReader.open(built, { runs: { query: "", namespace: "", columns: ["notes"] } });
    const notes = "x".repeat(limits.notesBytesMax);
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push((await built.runs.create(CALLER, asked({ notes }))).run.id);
    const received = new Set<string>();
    while (received.size < ids.length) {
      const { runs, left } = await reader.next("runs");
      expect(left).toEqual([]);
      expect(sizeOf(runs)).toBeLessThan(1.01 * limits.pageBytesMax);
      for (const { run } of runs) received.add(run.id);
    }
    expect(received).toEqual(new Set(ids));
    await reader.leave();
  });
}

async function pagesOf<T>(
  read: (pageToken: string) => Promise<{ items: readonly T[]; nextPageToken: string }>,
): Promise<{ items: T[]; pages: number }> {
  const items: T[] = [];
  let pages = 0;
  let pageToken = "";
  do {
    const page = await read(pageToken);
    expect(sizeOf(page.items)).toBeLessThan(1.25 * limits.pageBytesMax);
    expect(page.items.length).toBeGreaterThan(0);
    items.push(...page.items);
    pageToken = page.nextPageToken;
    pages++;
  } while (pageToken !== "");
  return { items, pages };
}
