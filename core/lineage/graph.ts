import { limits } from "#lang/limits.ts";
import type { Artifact } from "../types/artifact.ts";
import type { RunStatus } from "#lang/statuses.ts";
import type { LineageStore } from "../ports/lineage-store.ts";
import { HEAVY_PARTS, type RunStore } from "../ports/run-store.ts";
import { readRuns } from "../lists/read-runs.ts";
import type { Walked, WalkedEdge, WalkRequest } from "./walk.ts";

/** A lineage as a caller may see it. The first node is the requested run. */
export interface LineageGraph {
  nodes: LineageNode[];
  edges: WalkedEdge[];
  /** Whether the depth or a limit cut something off. */
  truncated: boolean;
}

export type LineageNode = { distance: number } & (
  | {
      kind: "run";
      runId: string;
      name: string;
      namespace: string;
      status: RunStatus;
      /** Those that links of this graph name, and its models. */
      artifacts: Artifact[];
    }
  | { kind: "external"; externalId: string }
  | { kind: "hidden" }
);

/** Adds names and artifacts to the nodes of a walk, and removes the ids of hidden ones. */
export async function drawLineage(
  stores: { store: RunStore; links: LineageStore },
  { nodes, edges, truncated, bytes }: Walked,
  { sees, seesArtifact }: Pick<WalkRequest, "sees" | "seesArtifact">,
  signal: AbortSignal | undefined,
): Promise<LineageGraph> {
  const named = new Map<number, Set<string>>();
  for (const { source, artifact } of edges) {
    if (artifact === "") continue;
    const names = named.get(source) ?? new Set();
    named.set(source, names.add(artifact));
  }
  const places = nodes.flatMap(({ kind }, place) => (kind === "run" ? [place] : []));
  const ids = places.map((place) => nodes[place]!.id);
  const [runs, { artifacts, more }] = await Promise.all([
    // Only what is shown: a run may have many tags.
    Array.fromAsync(readRuns(stores.store, ids, HEAVY_PARTS, signal), ({ id, name, namespace, status }) => ({
      id,
      name,
      namespace,
      status,
    })),
    stores.links.readLinkedArtifacts({
      wanted: places.map((place) => ({ runId: nodes[place]!.id, names: [...(named.get(place) ?? [])] })),
      modelsMax: limits.lineageModelsMax,
      artifactsMax: limits.lineageArtifactsMax,
      bytesMax: Math.max(0, limits.pageBytesMax - bytes),
    }),
  ]);
  const byId = new Map(runs.map((run) => [run.id, run]));
  const byPlace = new Map(places.map((place, i) => [place, artifacts[i]!]));
  const drawn = nodes.map((node, place): LineageNode => {
    const { id, kind, distance } = node;
    if (kind === "hidden") return { kind, distance };
    const run = kind === "run" ? byId.get(id) : undefined;
    // Purged a moment ago: only its name remains.
    if (run === undefined) return { kind: "external", externalId: id, distance };
    // Moved out of sight a moment ago.
    if (!sees(run)) return { kind: "hidden", distance };
    return {
      kind: "run",
      distance,
      runId: id,
      name: run.name,
      namespace: run.namespace,
      status: run.status,
      artifacts: byPlace.get(place)!.filter(({ name }) => seesArtifact(node, name)),
    };
  });
  return { nodes: drawn, edges, truncated: truncated || more };
}
