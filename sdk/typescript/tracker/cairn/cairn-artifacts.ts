import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { TrackerArtifact } from "../api.ts";
import { readArtifact } from "../torchx-names.ts";

/** An artifact of a run as TorchX sees it. The path of one whose content is stored by the server is its URL. */
export function trackerArtifact(artifact: Artifact, url: string): TrackerArtifact {
  return readArtifact(artifact, url + contentPath(artifact.runId, artifact.name));
}

/** Where the content of an artifact is read and written. Throws for a name that would lead to another run. */
export function contentPath(runId: string, name: string): string {
  // However they are encoded, a URL loses them, and a part before them as well.
  if (name.split("/").some((part) => part === "." || part === "..")) {
    throw new Error(`cannot use artifact name "${name}": it has a part of dots alone`);
  }
  return `/artifacts/${runId}/${name.split("/").map(encodeURIComponent).join("/")}`;
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
