import { expect, it } from "vitest";
import type { Caller } from "#core/access/caller.ts";
import { NO_PROVENANCE, type Provenance } from "#core/types/provenance.ts";
import { SOURCE_ROLES } from "#core/types/source-role.ts";
import { asked, CALLER } from "../core-under-test.ts";
import { callerWithout } from "../masked-caller.ts";
import { useStores, type OpenStores } from "../stores.ts";
import { anything, buildLineage, byId } from "./build.ts";

const { initialState, trainingData, testData, featurePipeline } = SOURCE_ROLES;

/** What provenance names, as part of the lineage. */
export function lineageRolesContract(open: OpenStores): void {
  const bench = useStores(open);
  const build = async () => {
    const built = await buildLineage(bench.under);
    const made = async (parts: Partial<Provenance>, namespace = "lab", aliases: string[] = []) => {
      const provenance = { ...NO_PROVENANCE, ...parts };
      return (await built.runs.create(CALLER, asked({ namespace, aliases, provenance }))).run.id;
    };
    const withRoles = async (id: string, caller = CALLER) =>
      (await built.sources(caller, id, { withRoles: true })).map((one) => [
        one.role,
        one.runId ?? one.externalId,
      ]);
    const childrenOf = async (id: string, caller = CALLER) =>
      (await built.children(caller, id, { withRoles: true })).map((one) => [one.role, one.runId]);
    const edges = async (id: string, caller: Caller = CALLER) => {
      const graph = await built.lineage.get(caller, { run: byId(id), direction: "both", depth: 0 });
      const nameOf = (place: number) => {
        const node = graph.nodes[place]!;
        return node.kind === "run" ? node.runId : node.kind === "external" ? node.externalId : "hidden";
      };
      return graph.edges.map(({ source, child, role }) => [nameOf(source), role, nameOf(child)]);
    };
    return { ...built, made, withRoles, childrenOf, edges };
  };

  it("I200 what provenance names is in the lineage with its role, and in lists only if asked for", async () => {
    const { lineage, made, sources, children, withRoles, childrenOf, edges } = await build();
    const id = await made({
      initialState: "s3://base@v1",
      trainingData: ["s3://c4@v3", "s3://wiki"],
      testData: ["s3://c4@v3"],
      featurePipeline: "git@x:f.git@4f2a91c",
    });
    await lineage.addSource(CALLER, byId(id), anything("s3://c4@v3"));
    expect(await withRoles(id)).toEqual([
      [initialState, "s3://base@v1"],
      [trainingData, "s3://c4@v3"],
      [trainingData, "s3://wiki"],
      [testData, "s3://c4@v3"],
      [featurePipeline, "git@x:f.git@4f2a91c"],
      [undefined, "s3://c4@v3"],
    ]);
    expect((await sources(CALLER, id)).map(({ externalId }) => externalId)).toEqual(["s3://c4@v3"]);
    expect(await childrenOf("s3://c4@v3")).toEqual([
      [trainingData, id],
      [testData, id],
      [undefined, id],
    ]);
    expect(await children(CALLER, "s3://wiki")).toEqual([]);
    expect((await edges(id)).filter(([source]) => source === "s3://c4@v3")).toEqual([
      ["s3://c4@v3", trainingData, id],
      ["s3://c4@v3", testData, id],
      ["s3://c4@v3", undefined, id],
    ]);
  });

  it("I201 roles follow the provenance, and are not removed as links", async () => {
    const { runs, ingest, lineage, made, withRoles } = await build();
    const id = await made({ trainingData: ["a", "b"] });
    const ref = byId(id);
    expect(await lineage.removeSource(CALLER, ref, anything("a"))).toBe(false);
    await runs.update(CALLER, ref, {
      clearProvenance: ["training_data"],
      addProvenance: { ...NO_PROVENANCE, trainingData: ["b", "c"], initialState: "base" },
    });
    expect(await withRoles(id)).toEqual([
      [trainingData, "b"],
      [initialState, "base"],
      [trainingData, "c"],
    ]);
    const captured = { ...NO_PROVENANCE, initialState: "other", testData: ["t"] };
    await ingest.write(CALLER, { run: ref, writer: "w", seq: 1, series: [], lost: [], change: { captured } });
    expect((await withRoles(id)).map(([, text]) => text)).toEqual(["b", "base", "c", "t"]);
    await runs.update(CALLER, ref, { provenance: NO_PROVENANCE });
    expect(await withRoles(id)).toEqual([]);
  });

  it("I202 a run that provenance names by its id, or by its alias in the same namespace, is that run, in both directions", async () => {
    const { make, made, withRoles, childrenOf, edges } = await build();
    const base = await make("lab", ["base"]);
    await make("lab/a", ["elsewhere"]);
    const tuned = await made({ initialState: base, trainingData: ["elsewhere"] });
    const aliased = await made({ initialState: "base" });
    expect(await withRoles(tuned)).toEqual([
      [initialState, base],
      [trainingData, "elsewhere"],
    ]);
    expect(await withRoles(aliased)).toEqual([[initialState, base]]);
    const children = await childrenOf(base);
    expect(children).toHaveLength(2);
    for (const one of [tuned, aliased]) expect(children).toContainEqual([initialState, one]);
    for (const one of [tuned, aliased]) {
      expect(await edges(base)).toContainEqual([base, initialState, one]);
    }
    expect(await edges(aliased)).toContainEqual([base, initialState, aliased]);
  });

  it("I203 a hidden run that provenance names stays the text that was written, and its children stay unknown", async () => {
    const { make, made, withRoles, childrenOf, edges } = await build();
    const secret = await make("lab", ["secret-job"]);
    const byRunId = await made({ initialState: secret });
    const byAlias = await made({ initialState: "secret-job" });
    const hiddenChild = await made({ trainingData: [byRunId] }, "secret");
    const reader = callerWithout({ runs: [secret], namespaces: ["secret"] });
    expect(await withRoles(byRunId, reader)).toEqual([[initialState, secret]]);
    expect(await withRoles(byAlias, reader)).toEqual([[initialState, "secret-job"]]);
    expect(await edges(byAlias, reader)).toEqual([["secret-job", initialState, byAlias]]);
    expect(await edges(byRunId, reader)).toContainEqual([secret, initialState, byRunId]);
    // The answer contains neither id nor role of a hidden child.
    expect(await edges(byRunId, reader)).toContainEqual([byRunId, undefined, "hidden"]);
    expect(await childrenOf(secret, reader)).toEqual([[initialState, byRunId]]);
    expect(await childrenOf("secret-job", reader)).toEqual([[initialState, byAlias]]);
    expect(await edges(hiddenChild)).toContainEqual([byRunId, trainingData, hiddenChild]);
  });
}
