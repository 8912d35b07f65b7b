import { SourceRole, type Lineage as Graph, type LineageNode } from "#proto/cairn/v1/lineage_pb.ts";
import { Lineage, type LineageLink, type LineageRun, type TrackerArtifact } from "../api.ts";
import { trackerArtifact } from "./cairn-artifacts.ts";

/** What else is needed to make a lineage of TorchX from a graph of the server. */
export interface GraphContext {
  /** What TorchX calls the runs, by their ids. */
  ids: ReadonlyMap<string, string>;
  /** Of the run that was asked for. */
  artifacts: ReadonlyMap<string, TrackerArtifact>;
  url: string;
}

/** What TorchX calls the roles of sources: the names of their artifacts. */
const ARTIFACTS_OF_ROLES: Readonly<Record<number, readonly string[]>> = {
  [SourceRole.INITIAL_STATE]: ["initial_state"],
  [SourceRole.TRAINING_DATA]: ["training_data", "train"],
  [SourceRole.TEST_DATA]: ["test_data", "test"],
  [SourceRole.FEATURE_PIPELINE]: ["feature_pipeline"],
};

/** The first node of the graph is the run that was asked for. */
export function lineageFrom(graph: Graph, { ids, artifacts, url }: GraphContext): Lineage {
  const nameOf = (node: LineageNode | undefined): string | undefined => {
    if (node === undefined || node.hidden) return undefined;
    return node.externalId || (ids.get(node.runId) ?? node.runId);
  };
  const others = graph.nodes
    .slice(1)
    .filter(({ hidden }) => !hidden)
    .sort((a, b) => Math.abs(a.distance) - Math.abs(b.distance));
  // What was linked before it was a run is in the graph twice: by its text, and as the run.
  const merged = (nodes: readonly LineageNode[]): LineageRun[] => {
    const runs = new Map<string, LineageRun>();
    for (const node of nodes) {
      const runId = nameOf(node)!;
      const known = runs.get(runId);
      const distance = known?.distance ?? Math.abs(node.distance);
      const own = node.artifacts.map((artifact) => trackerArtifact(artifact, url));
      runs.set(runId, { runId, distance, artifacts: [...(known?.artifacts ?? []), ...own] });
    }
    return [...runs.values()];
  };
  const links = new Map<string, LineageLink>();
  // Those that were added as sources come first.
  for (const edge of [...graph.edges].sort((a, b) => a.role - b.role)) {
    const { source, child, role } = edge;
    const [runId, sourceRunId] = [nameOf(graph.nodes[child]), nameOf(graph.nodes[source])];
    if (runId === undefined || sourceRunId === undefined) continue;
    const names = ARTIFACTS_OF_ROLES[role];
    // The same link may be a source, too.
    if (names?.some((name) => links.has(JSON.stringify([runId, sourceRunId, name])))) continue;
    const artifact = names?.[0] ?? edge.artifact;
    links.set(JSON.stringify([runId, sourceRunId, artifact]), {
      runId,
      sourceRunId,
      artifactName: artifact || null,
    });
  }
  return new Lineage({
    ancestors: merged(others.filter(({ distance }) => distance < 0)),
    descendants: merged(others.filter(({ distance }) => distance > 0)),
    links: [...links.values()],
    artifacts,
    hiddenCount: graph.nodes.filter(({ hidden }) => hidden).length,
    truncated: graph.truncated,
  });
}
