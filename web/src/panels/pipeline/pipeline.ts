import { ArtifactKind, type Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { Lineage } from "#proto/cairn/v1/lineage_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { describePatch } from "#lang/words/patch.ts";
import { shellLine } from "#lang/words/shell-line.ts";

/** One thing in a stage: text, or another run. */
export interface PipelineItem {
  text: string;
  runId?: string;
  /** A note about it. */
  note?: string;
}

export interface PipelineStage {
  title: string;
  items: readonly PipelineItem[];
  /** The text for an empty stage. */
  missing: string;
}

const COMMIT_SHOWN = 12;

/** How the run was made and used, in chronological order. */
export function pipelineOf(run: Run, lineage: Lineage, artifacts: readonly Artifact[]): PipelineStage[] {
  const { provenance } = run;
  const code = provenance?.code;
  const texts = (values: readonly (string | undefined)[], note?: string): PipelineItem[] =>
    values
      .filter((text): text is string => text !== undefined && text !== "")
      .map((text) => (note === undefined ? { text } : { text, note }));
  const made = artifacts.filter(({ kind }) => kind === ArtifactKind.MODEL || kind === ArtifactKind.DATASET);
  return [
    { title: "Sources", items: linked(lineage, "source"), missing: "no source was recorded" },
    {
      title: "Data",
      items: [
        ...texts(provenance?.trainingData ?? [], "training"),
        ...texts(provenance?.testData ?? [], "test"),
      ],
      missing: "not recorded",
    },
    { title: "Features", items: texts([provenance?.featurePipeline]), missing: "none, or not recorded" },
    {
      title: "Initial state",
      items: texts([provenance?.initialState]),
      missing: "from scratch, or not recorded",
    },
    {
      title: "Code",
      items: [
        ...texts([code?.repository]),
        ...texts([code?.commit.slice(0, COMMIT_SHOWN)], code?.branch ? `on ${code.branch}` : "commit"),
        ...(code !== undefined && code.dirtyPatch !== ""
          ? [{ text: describePatch(code.dirtyPatch), note: "uncommitted" }]
          : []),
      ],
      missing: "not recorded",
    },
    { title: "Command", items: texts([shellLine(provenance?.command ?? [])]), missing: "not recorded" },
    { title: "This run", items: [{ text: run.name, runId: run.id }], missing: "" },
    {
      title: "Results",
      items: made.map(({ name, step, kind, uri }) => ({
        text: uri === "" ? name : uri,
        note: `${kind === ArtifactKind.MODEL ? "model" : "dataset"}${step === undefined ? "" : `, step ${step}`}`,
      })),
      missing: "no model or dataset yet",
    },
    { title: "Used by", items: linked(lineage, "child"), missing: "nothing yet" },
  ];
}

/** Direct neighbours. */
function linked({ nodes, edges }: Lineage, side: "source" | "child"): PipelineItem[] {
  const items: PipelineItem[] = [];
  for (const edge of edges) {
    // The run itself is the first node.
    if ((side === "source" ? edge.child : edge.source) !== 0) continue;
    const node = nodes[side === "source" ? edge.source : edge.child];
    if (node === undefined) continue;
    const note = edge.artifact === "" ? {} : { note: `through ${edge.artifact}` };
    if (node.hidden) items.push({ text: "a run you may not see", ...note });
    else if (node.runId === "") items.push({ text: node.externalId, ...note });
    else items.push({ text: node.name, runId: node.runId, ...note });
  }
  return items;
}
