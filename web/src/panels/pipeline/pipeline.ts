import { ArtifactKind, type Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import { SourceRole, type Lineage, type LineageEdge } from "#proto/cairn/v1/lineage_pb.ts";
import type { Code, Run } from "#proto/cairn/v1/run_pb.ts";
import { splitDataReference } from "#lang/data-reference.ts";
import { describePatch } from "#lang/words/patch.ts";
import { describeWorkTree } from "#lang/words/work-tree.ts";
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
const SHORT_DIGEST = "sha256:".length + COMMIT_SHOWN;

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
        ...named(lineage, SourceRole.TRAINING_DATA, provenance?.trainingData ?? [], "training"),
        ...named(lineage, SourceRole.TEST_DATA, provenance?.testData ?? [], "test"),
      ],
      missing: "not recorded",
    },
    {
      title: "Features",
      items: named(lineage, SourceRole.FEATURE_PIPELINE, [provenance?.featurePipeline ?? ""]),
      missing: "none, or not recorded",
    },
    {
      title: "Initial state",
      items: named(lineage, SourceRole.INITIAL_STATE, [provenance?.initialState ?? ""]),
      missing: "from scratch, or not recorded",
    },
    {
      title: "Code",
      items: [
        ...texts([code?.repository]),
        ...texts([code?.commit.slice(0, COMMIT_SHOWN)], code?.branch ? `on ${code.branch}` : "commit"),
        ...workTreeOf(code),
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

/** Only where some code is recorded. */
function workTreeOf(code: Code | undefined): PipelineItem[] {
  if (code === undefined || (code.commit === "" && code.repository === "" && code.dirtyPatch === ""))
    return [];
  const patch = code.dirtyPatch === "" ? [] : [{ text: describePatch(code.dirtyPatch), note: "uncommitted" }];
  return [{ text: describeWorkTree(code), note: "work tree" }, ...patch];
}

/** Direct neighbours, without those that the provenance names, which have stages of their own. */
function linked(lineage: Lineage, side: "source" | "child"): PipelineItem[] {
  return lineage.edges
    .filter(
      (edge) =>
        // The run itself is the first node.
        (side === "source" ? edge.child : edge.source) === 0 &&
        (side === "child" || edge.role === SourceRole.UNSPECIFIED),
    )
    .flatMap((edge) => itemOf(lineage, edge, side) ?? []);
}

/**
 * What the provenance names as data, features or initial state: a reference to a run is a link to it. A lineage may lack
 * some of them; then all references are shown as they are written, too.
 */
function named(
  lineage: Lineage,
  role: SourceRole,
  references: readonly string[],
  note?: string,
): PipelineItem[] {
  const texts = references.filter((text) => text !== "");
  const edges = lineage.edges.filter((edge) => edge.child === 0 && edge.role === role);
  const outside = new Set(edges.map(({ source }) => lineage.nodes[source]?.externalId ?? ""));
  const runs = edges.flatMap((edge) => {
    const node = lineage.nodes[edge.source];
    return node !== undefined && (node.hidden || node.runId !== "")
      ? (itemOf(lineage, edge, "source", note) ?? [])
      : [];
  });
  const unresolved = texts.filter((text) => !outside.has(text));
  const shown = runs.length >= unresolved.length ? texts.filter((text) => outside.has(text)) : texts;
  return [...shown.map((text) => referenceItem(text, note)), ...runs];
}

function referenceItem(text: string, note: string | undefined): PipelineItem {
  const { location, version } = splitDataReference(text);
  return { text: location, ...noteOf(note, shortDigest(version)) };
}

/** Enough to distinguish digests; the provenance page has all of it. */
function shortDigest(version: string): string {
  return /^sha256:[0-9a-f]{64}$/i.test(version) ? `${version.slice(0, SHORT_DIGEST)}…` : version;
}

function itemOf(
  { nodes }: Lineage,
  edge: LineageEdge,
  side: "source" | "child",
  more?: string,
): PipelineItem | undefined {
  const node = nodes[side === "source" ? edge.source : edge.child];
  if (node === undefined) return undefined;
  const note = noteOf(more, edge.artifact === "" ? "" : `through ${edge.artifact}`);
  if (node.hidden) return { text: "a run you may not see", ...note };
  if (node.runId === "") return { text: node.externalId, ...note };
  return { text: node.name, runId: node.runId, ...note };
}

function noteOf(...parts: readonly (string | undefined)[]): { note?: string } {
  const note = parts.filter((part) => part !== undefined && part !== "").join(", ");
  return note === "" ? {} : { note };
}
