import { expect, it } from "vitest";
import type { Caller } from "#core/access/caller.ts";
import { limits } from "#lang/limits.ts";
import { checkArtifactRecord, type ArtifactKind } from "#core/types/artifact.ts";
import type { RunRef } from "#lang/run-ref.ts";
import { CALLER } from "../core-under-test.ts";
import { anything, aRun, buildLineage, byId, PAGE, plain } from "./build.ts";
import { callerWithout } from "../masked-caller.ts";
import { NOW_US, refused, useStores, type OpenStores } from "../stores.ts";

export function lineageCoreContract(open: OpenStores, reachesLimits: boolean): void {
  const bench = useStores(open);
  const build = () => buildLineage(bench.under);

  it("I1 exactly one of many ranks is answered that it created the link", async () => {
    const { lineage, make, sources, clock } = await build();
    const parent = await make("lab/parents", ["job://x/1"]);
    const child = await make("lab", ["job://x/2"]);
    const ref: RunRef = { by: "alias", alias: "job://x/2", namespace: "" };
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => lineage.addSource(CALLER, ref, anything("job://x/1"))),
    );
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    const source = { runId: parent, externalId: undefined, artifact: "", hidden: false, createdUs: NOW_US };
    for (const answer of answers) expect(answer.source).toEqual(source);
    expect(await sources(CALLER, child)).toEqual([source]);
    clock.us = NOW_US + 9;
    const again = await lineage.addSource(CALLER, byId(child), aRun(parent));
    expect(again).toEqual({ created: false, source });
  });

  it("I2 resolves an id or alias of a run to the run, and keeps any other text", async () => {
    const { lineage, make, sources } = await build();
    const child = await make();
    const parent = await make("lab/a", ["one"]);
    await make("lab/a", ["twice"]);
    await make("lab/b", ["twice"]);
    const odd = "0".repeat(32);
    const texts = [parent, "one", "twice", odd, "s3://bucket/ data\n", "x".repeat(1024)];
    for (const text of texts) await lineage.addSource(CALLER, byId(child), anything(text));
    expect((await sources(CALLER, child)).map(plain)).toEqual([
      [parent, undefined, "", false],
      [undefined, "twice", "", false],
      [undefined, odd, "", false],
      [undefined, "s3://bucket/ data\n", "", false],
      [undefined, "x".repeat(1024), "", false],
    ]);
    // An alias of 32 hex digits is still an alias.
    const hex = await make("lab", [odd]);
    const { source } = await lineage.addSource(CALLER, byId(child), anything(odd));
    expect(source).toMatchObject({ runId: hex, externalId: undefined });
  });

  it("I2 refuses invalid texts, and missing runs", async () => {
    const { lineage, make } = await build();
    const child = await make();
    const add = (given: Parameters<typeof lineage.addSource>[2], ref = byId(child)) =>
      lineage.addSource(CALLER, ref, given);
    await expect(add(anything(""))).rejects.toEqual(refused("invalid"));
    await expect(add(anything("\ud800"))).rejects.toEqual(refused("invalid"));
    const long = refused("exhausted", "LIMIT_EXCEEDED");
    await expect(add(anything("x".repeat(limits.sourceBytesMax + 1)))).rejects.toEqual(long);
    await expect(add(anything("x", "y".repeat(limits.artifactNameBytesMax + 1)))).rejects.toEqual(long);
    await expect(add(aRun("0".repeat(32)))).rejects.toEqual(refused("not-found"));
    await expect(add(anything("x"), byId("0".repeat(32)))).rejects.toEqual(refused("not-found"));
    for (const pageToken of ["x", "-1", "0", "1e3", "9".repeat(17)]) {
      const page = lineage.listSources(CALLER, byId(child), { ...PAGE, pageToken });
      await expect(page).rejects.toEqual(refused("invalid", "PAGE_TOKEN"));
    }
    for (const depth of [-1, 0.5, limits.lineageDepthMax + 1]) {
      const graph = lineage.get(CALLER, { run: byId(child), direction: "both", depth });
      await expect(graph).rejects.toEqual(refused("invalid"));
    }
  });

  it("I3 keeps a purged source as the id it had", async () => {
    const { lineage, make, sources, runs } = await build();
    const [parent, child] = [await make(), await make()];
    await lineage.addSource(CALLER, byId(child), aRun(parent, "model"));
    await runs.delete(CALLER, byId(parent));
    expect((await sources(CALLER, child)).map(plain)).toEqual([[parent, undefined, "model", false]]);
    await runs.purge(CALLER, byId(parent));
    expect((await sources(CALLER, child)).map(plain)).toEqual([[undefined, parent, "model", false]]);
    const { nodes } = await lineage.get(CALLER, { run: byId(child), direction: "both", depth: 0 });
    expect(nodes).toMatchObject([
      { kind: "run", runId: child },
      { kind: "external", externalId: parent, distance: -1 },
    ]);
  });

  it("I4 lists by artifact and in pages, and removes by any name of the source", async () => {
    const { lineage, make, sources, children } = await build();
    const child = await make();
    await lineage.addSource(CALLER, byId(child), anything("early", "m"));
    // The text becomes the alias of a run only now: the same text names both links.
    const late = await make("lab", ["early"]);
    await lineage.addSource(CALLER, byId(child), anything("early", "m"));
    await lineage.addSource(CALLER, byId(child), anything("early"));
    expect((await sources(CALLER, child, { artifact: "m" })).map(plain)).toEqual([
      [undefined, "early", "m", false],
      [late, undefined, "m", false],
    ]);
    expect(await sources(CALLER, child, { artifact: "M" })).toEqual([]);
    expect(await sources(CALLER, child, { artifact: "" })).toEqual([]);
    expect((await children(CALLER, "early")).map(({ artifact }) => artifact)).toEqual(["m", "m", ""]);
    expect((await children(CALLER, late)).map(({ artifact }) => artifact)).toEqual(["m", ""]);
    const first = await lineage.listSources(CALLER, byId(child), { ...PAGE, pageSize: 2 });
    expect(first.sources).toHaveLength(2);
    const { nextPageToken: pageToken } = first;
    const second = await lineage.listSources(CALLER, byId(child), { ...PAGE, pageSize: 2, pageToken });
    expect(second).toMatchObject({ sources: [{ runId: late, artifact: "" }], nextPageToken: "" });
    expect(await lineage.removeSource(CALLER, byId(child), anything("early", "m"))).toBe(true);
    expect(await lineage.removeSource(CALLER, byId(child), anything("early", "m"))).toBe(false);
    expect((await sources(CALLER, child)).map(plain)).toEqual([[late, undefined, "", false]]);
    const [audit] = await bench.under.access.listAudit({
      principal: undefined,
      action: "remove-source",
      target: undefined,
      before: undefined,
      limit: 10,
    });
    expect(audit).toMatchObject({ target: child, facts: { source: "early", artifact: "m" } });
  });

  it("I5 shows cycles and self-links, each node once, with signed distances", async () => {
    const { lineage, make } = await build();
    const [a, b, c] = [await make(), await make(), await make()];
    for (const [child, source] of [
      [a, a],
      [a, b],
      [b, c],
      [c, a],
      [b, "data"],
    ] as const) {
      await lineage.addSource(CALLER, byId(child), anything(source));
    }
    const { nodes, edges, truncated } = await lineage.get(CALLER, {
      run: byId(a),
      direction: "both",
      depth: 0,
    });
    const shown = nodes.map((node) => [node.kind === "run" ? node.runId : node.kind, node.distance]);
    expect(shown).toEqual([
      [a, 0],
      [b, -1],
      [c, 1],
      ["external", -2],
    ]);
    const pairs = edges.map(({ source, child }) => `${source}>${child}`).sort();
    expect(pairs).toEqual(["0>0", "0>2", "1>0", "2>1", "3>1"]);
    expect(truncated).toBe(false);
  });

  if (reachesLimits)
    it("I5 truncates at the limit of nodes, and says so", async () => {
      const { lineage, make } = await build();
      const { links } = bench.under;
      const root = await make();
      const max = limits.lineageNodesMax;
      const add = (source: string) =>
        links.addSource({ childId: root, source, artifact: "", createdUs: NOW_US });
      await Promise.all(Array.from({ length: max - 1 }, (_, i) => add(`s${i}`)));
      const get = () => lineage.get(CALLER, { run: byId(root), direction: "sources", depth: 1 });
      expect(await get()).toMatchObject({ truncated: false, nodes: { length: max } });
      await add("one more");
      const cut = await get();
      expect(cut).toMatchObject({ truncated: true, nodes: { length: max }, edges: { length: max - 1 } });
    });

  it("I5 truncates at the limit of depth, and says so", async () => {
    const { lineage, make } = await build();
    const chain = await make();
    let from = chain;
    for (let i = 0; i < 7; i++) {
      const source = await make();
      await bench.under.links.addSource({ childId: from, source, artifact: "", createdUs: NOW_US });
      from = source;
    }
    const along = async (depth: number) => {
      const graph = await lineage.get(CALLER, { run: byId(chain), direction: "both", depth });
      return [graph.nodes.length, graph.truncated];
    };
    expect(await along(0)).toEqual([6, true]);
    expect(await along(6)).toEqual([7, true]);
    expect(await along(7)).toEqual([8, false]);
  });

  it("I7 shows the artifacts that links name, and models", async () => {
    const { lineage, make } = await build();
    const [child, parent] = [await make(), await make()];
    const put = (runId: string, name: string, kind: ArtifactKind, step?: number) =>
      bench.under.artifacts.putArtifact(
        runId,
        checkArtifactRecord({
          name,
          step,
          kind,
          mediaType: "",
          metadata: new Map(),
          uri: `s3://bucket/${name}`,
          content: undefined,
          sha256: undefined,
          sizeBytes: undefined,
        }),
        NOW_US,
      );
    await put(parent, "tokens.bin", "dataset", 1);
    await put(parent, "tokens.bin", "dataset", 2);
    await put(parent, "notes.txt", "file");
    await put(parent, "closed.pt", "model");
    for (const step of [1, 2]) await put(parent, "weights.pt", "model", step);
    await put(child, "best.pt", "model");
    for (const name of ["tokens.bin", "weights.pt", "never recorded"]) {
      await lineage.addSource(CALLER, byId(child), aRun(parent, name));
    }
    const shown = async (caller: Caller) => {
      const { nodes } = await lineage.get(caller, { run: byId(child), direction: "both", depth: 0 });
      return nodes.map((node) =>
        node.kind === "run" ? node.artifacts.map(({ name, step }) => [name, step]) : undefined,
      );
    };
    const linked = [
      ["tokens.bin", 2],
      ["weights.pt", 2],
    ];
    expect(await shown(CALLER)).toEqual([
      [["best.pt", undefined]],
      [...linked, ["closed.pt", undefined], ["weights.pt", 1]],
    ]);
    const { links } = bench.under;
    const some = async (modelsMax: number, artifactsMax: number, bytesMax = 1e6) => {
      const wanted = [
        { runId: parent, names: ["tokens.bin", "weights.pt"] },
        { runId: "0".repeat(32), names: ["x"] },
        { runId: child, names: [] },
      ];
      const bound = { modelsMax, artifactsMax, bytesMax };
      const { artifacts, more } = await links.readLinkedArtifacts({ wanted, ...bound });
      return [...artifacts.map((own) => own.map(({ name }) => name).join(" ")), more];
    };
    const all = "tokens.bin weights.pt closed.pt weights.pt";
    expect(await some(3, 5)).toEqual([all, "", "best.pt", false]);
    expect(await some(1, 5)).toEqual(["tokens.bin weights.pt closed.pt", "", "best.pt", true]);
    expect(await some(3, 4)).toEqual([all, "", "", true]);
    expect(await some(3, 1)).toEqual(["tokens.bin", "", "", true]);
    expect(await some(3, 5, 500)).toEqual(["tokens.bin weights.pt", "", "", true]);
    expect(await some(3, 5, 0)).toEqual(["", "", "", true]);
    const eve = callerWithout({ artifacts: ["closed.pt"] }, "read");
    expect((await shown(eve))[1]).toEqual([...linked, ["weights.pt", 1]]);
  });
}
