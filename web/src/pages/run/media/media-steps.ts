import { ArtifactKind, type Artifact } from "#proto/cairn/v1/artifact_pb.ts";

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

function stepOf({ step }: Artifact): number {
  return step === undefined ? -Infinity : Number(step);
}

/** All steps at which something is shown, each once, rising. */
export function mediaSteps(keys: readonly MediaKey[]): number[] {
  const steps = new Set(keys.flatMap(({ versions }) => versions.map(stepOf)).filter(Number.isFinite));
  return [...steps].sort((a, b) => a - b);
}

/** The version of a key at a step: the last one up to it, or else the first. */
export function versionAt({ versions }: MediaKey, step: number): Artifact {
  return versions.findLast((version) => stepOf(version) <= step) ?? versions[0]!;
}

/** The index of the step that is nearest; of two the earlier one. */
export function nearestStep(steps: readonly number[], wanted: number): number {
  let best = 0;
  for (let i = 1; i < steps.length; i++) {
    if (Math.abs(steps[i]! - wanted) < Math.abs(steps[best]! - wanted)) best = i;
  }
  return best;
}
