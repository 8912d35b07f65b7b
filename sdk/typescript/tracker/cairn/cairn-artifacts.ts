import { contentPath } from "#lang/content-path.ts";
import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { TrackerArtifact } from "../api.ts";
import { readArtifact } from "../torchx-names.ts";

/** An artifact of a run as TorchX sees it. The path of one whose content is stored by the server is its URL. */
export function trackerArtifact(artifact: Artifact, url: string): TrackerArtifact {
  return readArtifact(artifact, url + contentPath({ runId: artifact.runId, name: artifact.name }));
}

/** One per name: that without a step, which is how TorchX writes, or else that of the highest step. */
export function latestArtifacts(artifacts: Iterable<Artifact>): Artifact[] {
  const latest = new Map<string, Artifact>();
  for (const artifact of artifacts) {
    const other = latest.get(artifact.name);
    if (other === undefined || isLater(artifact, other)) latest.set(artifact.name, artifact);
  }
  return [...latest.values()];
}

function isLater(one: Artifact, other: Artifact): boolean {
  if (one.step === undefined || other.step === undefined) return one.step === undefined;
  return one.step > other.step;
}
