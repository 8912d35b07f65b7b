import { ArtifactKind, ArtifactPlace, type Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import { compareNames } from "#lang/words/names.ts";
import { stepOf } from "../../../panels/artifacts/artifact-steps.ts";

/** Kinds that can be shown side by side, pictures first. */
const MEDIA_KINDS: readonly ArtifactKind[] = [
  ArtifactKind.IMAGE,
  ArtifactKind.AUDIO,
  ArtifactKind.TEXT,
  ArtifactKind.TABLE,
  ArtifactKind.HISTOGRAM,
  ArtifactKind.CURVE,
];

interface MediaRow {
  name: string;
  /** Per run, by rising step; one without a step is before all others. */
  artifacts: Artifact[][];
}

/** Media of the same name, side by side. */
export function mediaRows(byRun: readonly (readonly Artifact[])[]): MediaRow[] {
  const shown = byRun.map((artifacts) =>
    artifacts.filter(({ kind, place }) => MEDIA_KINDS.includes(kind) && place === ArtifactPlace.STORED),
  );
  const names = [...new Set(shown.flatMap((artifacts) => artifacts.map(({ name }) => name)))].sort(
    compareNames,
  );
  const rows = names.map((name) => ({
    name,
    artifacts: shown.map((artifacts) =>
      artifacts.filter((artifact) => artifact.name === name).sort((a, b) => stepOf(a) - stepOf(b)),
    ),
  }));
  return rows.sort((a, b) => rankOf(a) - rankOf(b));
}

/** The step to look at: the wanted one, or the nearest before it, or the last. */
export function nearestStep(steps: readonly number[], wanted: number | undefined): number | undefined {
  if (wanted === undefined) return steps.at(-1);
  return steps.findLast((step) => step <= wanted) ?? steps[0];
}

function rankOf({ artifacts }: MediaRow): number {
  return MEDIA_KINDS.indexOf(artifacts.flat()[0]!.kind);
}
