import { expect, it } from "vitest";
import type { Caller } from "#core/access/caller.ts";
import type { LineageNode } from "#core/lineage/graph.ts";
import { CALLER, STRANGER } from "./core-under-test.ts";
import { anything, aRun, buildLineage, byId, PAGE, plain } from "./lineage-store-build.ts";
import { callerWithout } from "./masked-caller.ts";
import { AUDIT, NOW_US, refused, useStores, type OpenStores } from "./stores.ts";

export function lineageHiddenContract(open: OpenStores): void {
  const bench = useStores(open);
  const build = () => buildLineage(bench.under);

  it("I6 tells of what is hidden only that it is there, and finds nothing through it", async () => {
    const { lineage, make, sources, children } = build();
    const eve = callerWithout({ namespaces: ["secret"], artifacts: ["closed"] });
    const [root, other] = [await make(), await make()];
    const secret = await make("secret/team", ["hush"]);
    const beyond = await make();
    await lineage.addSource(CALLER, byId(root), aRun(secret, "weights"));
    await lineage.addSource(CALLER, byId(root), aRun(secret, "tokens"));
    await lineage.addSource(CALLER, byId(secret), aRun(beyond));
    await lineage.addSource(CALLER, byId(root), aRun(other, "closed"));
    const [hidden] = await sources(eve, root);
    expect(hidden).toEqual({
      runId: undefined,
      externalId: undefined,
      artifact: "",
      hidden: true,
      createdUs: NOW_US,
    });
    expect((await sources(eve, root)).map(plain)).toEqual([
      [undefined, undefined, "", true],
      [undefined, undefined, "", true],
      [other, undefined, "", false],
    ]);
    // Found by its artifact, it would be known by its artifact.
    expect(await sources(eve, root, { artifact: "weights" })).toEqual([]);
    expect(await sources(eve, root, { artifact: "closed" })).toEqual([]);
    expect(await children(eve, other, { artifact: "closed" })).toEqual([]);
    expect(await children(eve, beyond)).toEqual([
      { runId: undefined, artifact: "", hidden: true, createdUs: 0 },
    ]);
    expect(await children(eve, secret)).toEqual([]);
    await expect(lineage.listChildren(eve, { by: "run", run: byId(secret) }, PAGE)).rejects.toEqual(
      refused("not-found"),
    );
    const graph = await lineage.get(eve, { run: byId(root), direction: "both", depth: 0 });
    expect(graph.nodes).toMatchObject([{ runId: root }, { kind: "hidden", distance: -1 }, { runId: other }]);
    expect(graph.nodes[1]).toEqual({ kind: "hidden", distance: -1 } satisfies LineageNode);
    expect(graph.edges).toEqual([
      { source: 1, child: 0, artifact: "" },
      { source: 2, child: 0, artifact: "" },
    ]);
    expect(graph.truncated).toBe(false);
    const all = await lineage.get(CALLER, { run: byId(root), direction: "both", depth: 0 });
    expect(all.nodes).toHaveLength(4);
  });

  it("I6 answers to the name of a hidden run as to one that means nothing", async () => {
    const { lineage, make } = build();
    const eve = callerWithout({ namespaces: ["secret"] });
    const child = await make();
    const secret = await make("secret", ["hush"]);
    for (const text of [secret, "hush"]) {
      const { source, created } = await lineage.addSource(eve, byId(child), anything(text));
      expect(created).toBe(true);
      expect(source).toMatchObject({ runId: undefined, externalId: text, hidden: false });
    }
    await expect(lineage.addSource(eve, byId(child), aRun(secret))).rejects.toEqual(refused("not-found"));
    await expect(lineage.addSource(eve, byId(secret), anything("x"))).rejects.toEqual(refused("not-found"));
    await expect(lineage.get(eve, { run: byId(secret), direction: "both", depth: 0 })).rejects.toEqual(
      refused("not-found"),
    );
  });

  it("I6 fills pages by artifact, so that their length tells nothing", async () => {
    const { lineage, make, children } = build();
    const eve = callerWithout({ namespaces: ["secret"] });
    const seen: string[] = [];
    for (let i = 0; i < 12; i++) {
      const id = await make(i % 3 === 0 ? "lab" : "secret");
      if (i % 3 === 0) seen.push(id);
      await lineage.addSource(CALLER, byId(id), anything("data", "train"));
    }
    const of = { by: "id", id: "data" } as const;
    const first = await lineage.listChildren(eve, of, { artifact: "train", pageSize: 3, pageToken: "" });
    expect(first.children.map(({ runId }) => runId)).toEqual(seen.slice(0, 3));
    const second = await lineage.listChildren(eve, of, {
      artifact: "train",
      pageSize: 3,
      pageToken: first.nextPageToken,
    });
    expect(second.children.map(({ runId }) => runId)).toEqual(seen.slice(3));
    expect(second.nextPageToken).toBe("");
    expect(await children(eve, "data")).toHaveLength(12);
  });

  it("asks for the rights to read and to write", async () => {
    const { lineage, make } = build();
    const [child, parent] = [await make(), await make()];
    for (const act of [
      () => lineage.listSources(STRANGER, byId(child), PAGE),
      () => lineage.listChildren(STRANGER, { by: "id", id: "data" }, PAGE),
      () => lineage.get(STRANGER, { run: byId(child), direction: "both", depth: 0 }),
    ]) {
      await expect(act()).rejects.toEqual(refused("unauthenticated"));
    }
    const reader: Caller = {
      ...callerWithout({}),
      rights: { ...callerWithout({}).rights, may: (permission) => permission === "read" },
    };
    for (const act of [
      () => lineage.addSource(reader, byId(child), aRun(parent)),
      () => lineage.removeSource(reader, byId(child), aRun(parent)),
    ]) {
      await expect(act()).rejects.toEqual(refused("forbidden"));
    }
    await bench.runs.setDeleted(parent, NOW_US, AUDIT);
    expect(await lineage.addSource(CALLER, byId(child), aRun(parent))).toMatchObject({ created: true });
  });
}
