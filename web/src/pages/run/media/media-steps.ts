import { ArtifactKind, type Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import { artifactAt, stepOf } from "../../../panels/artifacts/artifact-steps.ts";

/** Kinds that have a picture or a sound. */
const MEDIA: ReadonlySet<ArtifactKind> = new Set([
  ArtifactKind.IMAGE,
  ArtifactKind.AUDIO,
  ArtifactKind.TABLE,
  ArtifactKind.HISTOGRAM,
  ArtifactKind.TEXT,
  ArtifactKind.CURVE,
]);

export interface MediaKey {
  name: string;
  kind: ArtifactKind;
  /** By rising step; those without a step first. */
  versions: readonly Artifact[];
}

export function mediaKeys(artifacts: readonly Artifact[]): MediaKey[] {
  const byName = new Map<string, Artifact[]>();
  for (const artifact of artifacts) {
    if (!MEDIA.has(artifact.kind) && !/^(?:image|audio|video)\//.test(artifact.mediaType)) continue;
    const known = byName.get(artifact.name);
    if (known === undefined) byName.set(artifact.name, [artifact]);
    else known.push(artifact);
  }
  return [...byName].map(([name, versions]) => ({
    name,
    kind: versions[0]!.kind,
    versions: versions.toSorted((a, b) => stepOf(a) - stepOf(b)),
  }));
}

/** The version of a key at a step: the last one up to it, or else the first. */
export function versionAt({ versions }: MediaKey, step: number): Artifact {
  return artifactAt(versions, step) ?? versions[0]!;
}

/** The index of the step that is nearest; of two the earlier one. */
export function nearestStep(steps: readonly number[], wanted: number): number {
  let best = 0;
  for (let i = 1; i < steps.length; i++) {
    if (Math.abs(steps[i]! - wanted) < Math.abs(steps[best]! - wanted)) best = i;
  }
  return best;
}
