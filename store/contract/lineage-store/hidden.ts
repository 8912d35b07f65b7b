import { expect, it } from "vitest";
import type { Caller } from "#core/access/caller.ts";
import type { LineageNode } from "#core/lineage/graph.ts";
import { CALLER, NO_CREDENTIAL } from "../core-under-test.ts";
import { anything, aRun, buildLineage, byId, PAGE, plain } from "./build.ts";
import { callerWithout } from "../masked-caller.ts";
import { AUDIT, NOW_US, refused, useStores, type OpenStores } from "../stores.ts";

export function lineageHiddenContract(open: OpenStores): void {
  const bench = useStores(open);
  const build = () => buildLineage(bench.under);

  it("I6 discloses only the existence of a hidden node, and finds nothing through it", async () => {
    const { lineage, make, sources, children } = await build();
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
    // Finding it by its artifact would disclose the artifact.
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

  it("I6 has the same answer for the name of a hidden run as for an unknown text", async () => {
    const { lineage, make } = await build();
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

  it("I6 fills pages by artifact, so that their length discloses nothing", async () => {
    const { lineage, make } = await build();
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
  });

  it("I6 lists only visible runs made from something outside, in pages that count nothing else", async () => {
    const { lineage, make, children } = await build();
    const eve = callerWithout({ namespaces: ["secret"] });
    const seen: string[] = [];
    for (let i = 0; i < 12; i++) {
      const id = await make(i % 3 === 1 ? "lab" : "secret");
      if (i % 3 === 1) seen.push(id);
      await lineage.addSource(CALLER, byId(id), anything("s3://data"));
    }
    expect((await children(eve, "s3://data")).map(({ runId, hidden }) => [runId, hidden])).toEqual(
      seen.map((id) => [id, false]),
    );
    expect(await children(CALLER, "s3://data")).toHaveLength(12);
    const of = { by: "id", id: "s3://data" } as const;
    const pages: string[][] = [];
    const tokens: string[] = [];
    for (let pageToken = ""; pages.length === 0 || pageToken !== "";) {
      const page = await lineage.listChildren(eve, of, { ...PAGE, pageSize: 2, pageToken });
      pages.push(page.children.map(({ runId }) => runId!));
      pageToken = page.nextPageToken;
      tokens.push(pageToken);
    }
    expect(pages).toEqual([seen.slice(0, 2), seen.slice(2)]);
    expect(tokens[0]).toMatch(/^[\w-]{40,}$/);
    expect(tokens.at(-1)).toBe("");
    const refusal = refused("invalid", "PAGE_TOKEN");
    for (const pageToken of ["1", "x", `${tokens[0]}AAAA`]) {
      await expect(lineage.listChildren(eve, of, { ...PAGE, pageToken })).rejects.toEqual(refusal);
    }
  });

  it("I6 has the same answer for the id of a hidden run as for an unused id", async () => {
    const { lineage, make, sources, children } = await build();
    const eve = callerWithout({ namespaces: ["secret"] });
    const secret = await make("secret");
    const nothing = secret.replace(/^.{16}/, "0".repeat(16));
    const seeWith = async (id: string) => {
      const child = await make();
      const seen = [
        await lineage.addSource(eve, byId(child), anything(id, "weights")),
        await lineage.addSource(eve, byId(child), anything(id, "weights")),
        await sources(eve, child),
        await sources(eve, child, { artifact: "weights" }),
        await children(eve, id),
        await children(eve, id, { artifact: "weights" }),
        await lineage.get(eve, { run: byId(child), direction: "both", depth: 0 }),
        await lineage.removeSource(eve, byId(child), anything(id, "weights")),
        await lineage.removeSource(eve, byId(child), anything(id, "weights")),
        await sources(eve, child),
      ];
      return JSON.stringify(seen)
        .replaceAll(id, "SOURCE")
        .replaceAll(child, "CHILD")
        .replaceAll(/run-[0-9a-f]{8}/g, "NAME");
    };
    expect(await seeWith(secret)).toBe(await seeWith(nothing));
  });

  it("I6 separates a link by text from the one to a hidden run, and shows one to callers that may see it", async () => {
    const { lineage, make, sources, children } = await build();
    const eve = callerWithout({ namespaces: ["secret"] });
    const [child, secret] = [await make(), await make("secret")];
    await lineage.addSource(CALLER, byId(child), aRun(secret, "weights"));
    const { created } = await lineage.addSource(eve, byId(child), anything(secret, "weights"));
    expect(created).toBe(true);
    expect((await sources(eve, child)).map(plain)).toEqual([
      [undefined, undefined, "", true],
      [undefined, secret, "weights", false],
    ]);
    const { nodes, edges } = await lineage.get(eve, { run: byId(child), direction: "both", depth: 0 });
    expect(nodes.slice(1)).toEqual([
      { kind: "hidden", distance: -1 },
      { kind: "external", externalId: secret, distance: -1 },
    ]);
    expect(edges).toHaveLength(2);
    expect((await children(eve, secret)).map(({ runId }) => runId)).toEqual([child]);
    // A caller that may see the run has one link to it.
    expect((await sources(CALLER, child)).map(plain)).toEqual([[secret, undefined, "weights", false]]);
    expect(await children(CALLER, secret)).toHaveLength(1);
    expect(await lineage.addSource(CALLER, byId(child), anything(secret, "weights"))).toMatchObject({
      created: false,
    });
    expect(await lineage.removeSource(eve, byId(child), anything(secret, "weights"))).toBe(true);
    expect((await sources(eve, child)).map(plain)).toEqual([[undefined, undefined, "", true]]);
    expect(await lineage.removeSource(CALLER, byId(child), anything(secret, "weights"))).toBe(true);
    expect(await sources(CALLER, child)).toEqual([]);
  });

  it("requires the rights to read and to write", async () => {
    const { lineage, make } = await build();
    const [child, parent] = [await make(), await make()];
    for (const act of [
      () => lineage.listSources(NO_CREDENTIAL, byId(child), PAGE),
      () => lineage.listChildren(NO_CREDENTIAL, { by: "id", id: "data" }, PAGE),
      () => lineage.get(NO_CREDENTIAL, { run: byId(child), direction: "both", depth: 0 }),
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
