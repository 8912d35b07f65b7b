import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import type { FsspecArtifact } from "#sdk/tracker/fsspec/fsspec-directory.ts";
import { artifactFieldsOf } from "#sdk/tracker/torchx-names.ts";
import { isReference, listArtifacts } from "../artifacts/choose-artifacts.ts";
import { explain } from "../explain.ts";
import { isFatal } from "./is-fatal.ts";
import { isSame, paramTexts } from "./param-texts.ts";

export interface ImportedArtifacts {
  /** How many were missing or different. */
  recorded: number;
  skipped: { name: string; reason: string }[];
}

/** Records references that the run does not have yet. Nothing is looked up for a new run. */
export async function importArtifacts(
  server: Cairn,
  runId: string,
  artifacts: Iterable<FsspecArtifact>,
  mayHaveSome: boolean,
): Promise<ImportedArtifacts> {
  const wanted = [...artifacts];
  const result: ImportedArtifacts = { recorded: 0, skipped: [] };
  if (wanted.length === 0) return result;
  const there = mayHaveSome ? await listReferences(server, runId) : new Map<string, Artifact>();
  for (const { name, path, metadata } of wanted) {
    try {
      if (name === "") throw new Error("it has no name");
      const artifact = artifactFieldsOf(name, path, metadata && paramTexts(metadata));
      const known = there.get(artifact.name);
      const wantedTexts = new Map(Object.entries(artifact.metadata));
      if (known !== undefined && known.uri === artifact.uri && hasExactly(known.metadata, wantedTexts))
        continue;
      await server.artifacts.recordArtifact({ run: { id: runId }, artifact });
      result.recorded++;
    } catch (thrown) {
      if (await isFatal(thrown)) throw thrown;
      result.skipped.push({ name, reason: (await explain(thrown, ""))?.message ?? String(thrown) });
    }
  }
  return result;
}

async function listReferences(server: Cairn, runId: string): Promise<Map<string, Artifact>> {
  const found = new Map<string, Artifact>();
  for await (const artifact of listArtifacts(server, runId, "")) {
    if (artifact.step === undefined && isReference(artifact)) found.set(artifact.name, artifact);
  }
  return found;
}

function hasExactly(stored: Readonly<Record<string, string>>, texts: ReadonlyMap<string, string>): boolean {
  return (
    Object.keys(stored).length === texts.size && [...texts].every(([key, text]) => isSame(stored, key, text))
  );
}
