import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import type { Link, NewLink } from "#core/ports/lineage-store.ts";
import { AUDIT, createRun, inEveryForm, NOW_US, refused, useStores, type OpenStores } from "../stores.ts";

const ALL = { artifact: undefined, after: 0, limit: 1_000, bytesMax: Infinity };
const UNKNOWN = "0".repeat(32);

export function lineageLinksContract(open: OpenStores, reachesLimits: boolean): void {
  const bench = useStores(open);
  const add = (link: Partial<NewLink> & Pick<NewLink, "childId" | "source">) =>
    bench.under.links.addSource({ artifact: "", createdUs: NOW_US, ...link });
  const sourcesOf = async (childId: string, request: object = {}) =>
    (await bench.under.links.listSources({ ...ALL, childId, ...request })).rows;
  const childrenOf = async (sources: readonly string[], request: object = {}) =>
    (await bench.under.links.listChildren({ ...ALL, sources, ...request })).rows;
  const named = (links: readonly Link[]) => links.map(({ source, artifact }) => [source, artifact]);

  it("I1 keeps one link of two hundred callers that add it at once", async () => {
    const childId = await createRun(bench.runs);
    const link = { childId, source: "job://x/1", artifact: "model" };
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => add({ ...link, createdUs: NOW_US + i })),
    );
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    const winner = answers.find(({ created }) => created)!;
    expect(new Set(answers.map(({ createdUs }) => createdUs))).toEqual(new Set([winner.createdUs]));
    await inEveryForm(bench, async () => {
      expect(await sourcesOf(childId)).toMatchObject([{ ...link, createdUs: winner.createdUs }]);
      expect(await add({ ...link, createdUs: 5 })).toEqual({ created: false, createdUs: winner.createdUs });
    });
  });

  it("I1 I4 distinguishes links by exact source and artifact, and lists them as they were added", async () => {
    const childId = await createRun(bench.runs);
    const texts = ["b", "a", "A", " a", "a\u0301", "\u00e1", "a\u0000b", "a\nb", "🐈".repeat(256)];
    for (const source of texts) await add({ childId, source });
    for (const artifact of ["m", "M", "m ", "m/"]) await add({ childId, source: "b", artifact });
    await inEveryForm(bench, async () => {
      expect(named(await sourcesOf(childId))).toEqual([
        ...texts.map((text) => [text, ""]),
        ...["m", "M", "m ", "m/"].map((artifact) => ["b", artifact]),
      ]);
      expect(named(await sourcesOf(childId, { artifact: "m" }))).toEqual([["b", "m"]]);
      for (const text of texts) {
        expect((await childrenOf([text]))[0]).toMatchObject({ childId, source: text });
      }
      expect(named(await childrenOf(["b"], { artifact: "M" }))).toEqual([["b", "M"]]);
      expect(await childrenOf(["nothing"])).toEqual([]);
      expect(await childrenOf([])).toEqual([]);
    });
  });

  it("I2 returns whether a source is a run now", async () => {
    const childId = await createRun(bench.runs, { namespace: "lab/a" });
    const parent = await createRun(bench.runs, { namespace: "lab/b", aliases: ["job"] });
    for (const source of [parent, "job", UNKNOWN, childId]) await add({ childId, source });
    await inEveryForm(bench, async () => {
      const links = await sourcesOf(childId);
      expect(links.map(({ source, sourceNamespace }) => [source, sourceNamespace])).toEqual([
        [parent, "lab/b"],
        ["job", undefined],
        [UNKNOWN, undefined],
        [childId, "lab/a"],
      ]);
      expect(links.map(({ childNamespace }) => childNamespace)).toEqual(Array(4).fill("lab/a"));
    });
  });

  it("I3 deletes the links of a purged run, and keeps those that lead to it", async () => {
    const [gone, child] = [await createRun(bench.runs), await createRun(bench.runs)];
    await add({ childId: gone, source: "data" });
    await add({ childId: gone, source: child });
    await add({ childId: child, source: gone, artifact: "model" });
    await bench.runs.setDeleted(gone, NOW_US, AUDIT);
    expect(await sourcesOf(child)).toMatchObject([{ sourceNamespace: "lab" }]);
    await bench.runs.purgeRun(gone, AUDIT);
    await inEveryForm(bench, async () => {
      expect(await sourcesOf(gone)).toEqual([]);
      expect(await childrenOf(["data", child])).toEqual([]);
      expect(await sourcesOf(child)).toMatchObject([{ source: gone, sourceNamespace: undefined }]);
      expect(await childrenOf([gone])).toMatchObject([{ childId: child, artifact: "model" }]);
    });
    await expect(add({ childId: gone, source: "data" })).rejects.toEqual(refused("not-found"));
    await expect(add({ childId: UNKNOWN, source: "data" })).rejects.toEqual(refused("not-found"));
  });

  it("I4 removes only the named links, and audits that", async () => {
    const [a, b] = [await createRun(bench.runs), await createRun(bench.runs)];
    for (const childId of [a, b]) {
      for (const artifact of ["", "m"]) {
        for (const source of ["x", "y"]) await add({ childId, source, artifact });
      }
    }
    const audits = async () =>
      (
        await bench.under.access.listAudit({
          principal: undefined,
          action: "remove-source",
          target: undefined,
          before: undefined,
          limit: 10,
        })
      ).map(({ target }) => target);
    const remove = (sources: string[], artifact: string) =>
      bench.under.links.removeSource(
        { childId: a, sources, artifact },
        { ...AUDIT, action: "remove-source", target: sources.join() },
      );
    expect(await remove(["x", "z"], "m")).toBe(1);
    expect(await remove(["x"], "m")).toBe(0);
    expect(await remove(["x", "y"], "")).toBe(2);
    await inEveryForm(bench, async () => {
      expect(named(await sourcesOf(a))).toEqual([["y", "m"]]);
      expect(await sourcesOf(b)).toHaveLength(4);
      expect(await audits()).toEqual(["x,y", "x,z"]);
    });
    expect(await add({ childId: a, source: "x", artifact: "m" })).toMatchObject({ created: true });
    expect(named(await sourcesOf(a))).toEqual([
      ["y", "m"],
      ["x", "m"],
    ]);
  });

  it("I4 returns pages that miss nothing and repeat nothing while links are added and removed", async () => {
    const children = await Promise.all(Array.from({ length: 6 }, () => createRun(bench.runs)));
    for (const [i, childId] of children.entries()) {
      await add({ childId, source: i % 2 === 0 ? "even" : "odd" });
      await add({ childId: children[0]!, source: `s${i}` });
    }
    const first = await childrenOf(["odd", "even"], { limit: 4 });
    expect(first.map(({ childId }) => childId)).toEqual(children.slice(0, 4));
    const taken = { childId: children[3]!, sources: ["odd"], artifact: "" };
    await bench.under.links.removeSource(taken, AUDIT);
    await add({ childId: children[0]!, source: "odd" });
    const rest = await childrenOf(["odd", "even"], { after: first.at(-1)!.number });
    expect(rest.map(({ childId }) => childId)).toEqual([...children.slice(4), children[0]]);
    const sources = await sourcesOf(children[0]!, { limit: 3 });
    expect(named(sources)).toEqual([
      ["even", ""],
      ["s0", ""],
      ["s1", ""],
    ]);
    const more = await sourcesOf(children[0]!, { after: sources.at(-1)!.number });
    expect(more.map(({ source }) => source)).toEqual(["s2", "s3", "s4", "s5", "odd"]);
  });

  it("I5 reads the links of many at once, by either end, in order and to a limit", async () => {
    const [a, b, c] = [await createRun(bench.runs), await createRun(bench.runs), await createRun(bench.runs)];
    const made: [string, string][] = [
      [a, "x"],
      [b, a],
      [b, "x"],
      [c, a],
      [c, b],
    ];
    for (const [childId, source] of made) await add({ childId, source });
    const read = async (ids: string[], end: "child" | "source", more: object = {}) =>
      (
        await bench.under.links.readLinks({ ids, end, among: undefined, limit: 100, bytesMax: 1e6, ...more })
      ).rows.map(({ childId, source }) => [childId, source]);
    await inEveryForm(bench, async () => {
      expect(await read([c, a, "x", UNKNOWN], "child")).toEqual([
        [c, a],
        [c, b],
        [a, "x"],
      ]);
      expect(await read([a, "x", c], "source")).toEqual([
        [b, a],
        [c, a],
        [a, "x"],
        [b, "x"],
      ]);
      expect(await read([b, c], "child", { among: [b, "x"] })).toEqual([
        [b, "x"],
        [c, b],
      ]);
      expect(await read([a, "x"], "source", { among: [b] })).toEqual([
        [b, a],
        [b, "x"],
      ]);
      expect(await read([c, b], "child", { limit: 3 })).toEqual([
        [c, a],
        [c, b],
        [b, a],
      ]);
      expect(await read([], "child")).toEqual([]);
      expect(await read([a], "child", { among: [] })).toEqual([]);
    });
  });

  it("I4 Q8 lists until the texts are too many, also of several sources at once", async () => {
    const [a, b] = [await createRun(bench.runs), await createRun(bench.runs)];
    const long = (name: string) => name.repeat(1_000);
    // "p" and "q" by turns, so that both lists are cut off in the middle of each other.
    const made = [a, b].flatMap((childId) =>
      ["1", "2", "3"].flatMap((artifact) =>
        [long("p"), long("q")].map((source) => ({ childId, source, artifact })),
      ),
    );
    for (const link of made) await add(link);
    const { links } = bench.under;
    const walk = async (read: (after: number) => ReturnType<typeof links.listChildren>) => {
      const all: Link[] = [];
      for (let pages = 0; ; pages++) {
        const { rows, more } = await read(all.at(-1)?.number ?? 0);
        expect(rows.length).toBeGreaterThan(0);
        all.push(...rows);
        if (!more)
          return [pages > 1, all.map(({ childId, source, artifact }) => ({ childId, source, artifact }))];
      }
    };
    const sources = [long("p"), long("q")];
    await inEveryForm(bench, async () => {
      for (const bytesMax of [0, 3_000]) {
        const bound = { artifact: undefined, limit: 100, bytesMax };
        const children = await walk((after) => bench.under.links.listChildren({ ...bound, sources, after }));
        expect(children).toEqual([true, made]);
        const own = await walk((after) => bench.under.links.listSources({ ...bound, childId: b, after }));
        expect(own).toEqual([true, made.slice(6)]);
      }
      const bound = { among: undefined, limit: 100, bytesMax: 3_000 };
      const read = await bench.under.links.readLinks({ ids: [b, a], end: "child", ...bound });
      expect(read.more).toBe(true);
      expect(read.rows).toMatchObject(made.slice(6, 8));
    });
  });

  if (reachesLimits)
    it("I1 refuses more links than a run may have, and still accepts existing ones", async () => {
      const childId = await createRun(bench.runs);
      const max = limits.sourcesPerRunMax;
      await Promise.all(Array.from({ length: max }, (_, i) => add({ childId, source: `s${i}` })));
      const full = refused("exhausted", "LIMIT_EXCEEDED", { facts: { limit: String(max) } });
      await expect(add({ childId, source: "one more" })).rejects.toEqual(full);
      expect(await add({ childId, source: "s17" })).toMatchObject({ created: false });
      expect(await sourcesOf(childId, { limit: max + 1 })).toHaveLength(max);
    });
}
