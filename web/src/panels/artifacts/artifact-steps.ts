import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";

/** An artifact without a step is before all others. */
export function stepOf({ step }: Artifact): number {
  return step === undefined ? -Infinity : Number(step);
}

/** All steps that any of them has, each once, rising. */
export function stepsOf(artifacts: readonly Artifact[]): number[] {
  return [...new Set(artifacts.map(stepOf).filter(Number.isFinite))].sort((a, b) => a - b);
}

/** Of artifacts by rising step the last one at or before a step. */
export function artifactAt(artifacts: readonly Artifact[], step: number): Artifact | undefined {
  return artifacts.findLast((artifact) => stepOf(artifact) <= step);
}
