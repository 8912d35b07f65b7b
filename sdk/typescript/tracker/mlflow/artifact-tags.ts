/**
 * What MLflow knows of artifacts besides their files, as tags of the run:
 *
 *     torchx.artifact.path.<name>             where it is: uploaded, or an address that was given
 *     torchx.artifact.metadata.<name>.<key>   as TorchX's own tracker writes them
 */
import { TrackerArtifact, type MetadataValue } from "../api.ts";
import type { ListedFile } from "./artifact-files.ts";

export const ARTIFACT_PREFIX = "torchx.artifact.";
const PATH_PREFIX = `${ARTIFACT_PREFIX}path.`;
const METADATA_PREFIX = `${ARTIFACT_PREFIX}metadata.`;

export function pathTag(name: string): string {
  return PATH_PREFIX + name;
}

export function metadataTag(name: string, key: string): string {
  return `${METADATA_PREFIX}${name}.${key}`;
}

/**
 * From tags and files. Files without a tag were uploaded by others: TorchX puts each into a folder with the name of
 * the artifact, so a folder with one file is that file, one with more is the folder, and a file in no folder is itself.
 */
export function artifactsFrom(
  tags: ReadonlyMap<string, string>,
  files: readonly ListedFile[],
  artifactUri: string,
): Map<string, TrackerArtifact> {
  const root = artifactUri.replace(/\/+$/, "");
  const paths = new Map<string, string>();
  for (const [key, value] of tags)
    if (key.startsWith(PATH_PREFIX)) paths.set(key.slice(PATH_PREFIX.length), value);
  const byFolder = new Map<string, ListedFile[]>();
  for (const file of files) {
    const slash = file.path.lastIndexOf("/");
    const name = slash < 0 ? file.path : file.path.slice(0, slash);
    if (isPartOf(name, paths)) continue;
    byFolder.set(name, [...(byFolder.get(name) ?? []), file]);
  }
  for (const [name, within] of byFolder) {
    paths.set(name, `${root}/${within.length === 1 ? within[0]!.path : name}`);
  }
  const metadata = metadataOf(tags, [...paths.keys()]);
  const sizes = new Map(files.map(({ path, sizeBytes }) => [`${root}/${path}`, sizeBytes]));
  return new Map(
    Array.from(paths, ([name, path]) => {
      const own = metadata.get(name) ?? new Map<string, MetadataValue>();
      const size = sizes.get(path);
      if (size !== undefined) own.set("mlflow.file_size", size);
      return [name, new TrackerArtifact(name, path, own.size === 0 ? null : own)];
    }),
  );
}

/** Whether a folder is, or is in, the folder of an artifact that has a tag. */
function isPartOf(folder: string, paths: ReadonlyMap<string, string>): boolean {
  for (let at = folder; ; at = at.slice(0, at.lastIndexOf("/"))) {
    if (paths.has(at)) return true;
    if (!at.includes("/")) return false;
  }
}

/** Tags with metadata that an artifact has and should no longer have. */
export function staleTags(
  tags: ReadonlyMap<string, string>,
  name: string,
  wanted: ReadonlyMap<string, string>,
): string[] {
  const names = [name];
  for (const key of tags.keys()) if (key.startsWith(PATH_PREFIX)) names.push(key.slice(PATH_PREFIX.length));
  return [...(metadataOf(tags, names).get(name)?.keys() ?? [])]
    .map((key) => metadataTag(name, key))
    .filter((tag) => !wanted.has(tag));
}

/** A dot may be in a name and in a key: a tag is of the longest name that fits. */
function metadataOf(
  tags: ReadonlyMap<string, string>,
  names: string[],
): Map<string, Map<string, MetadataValue>> {
  const longestFirst = names.sort((a, b) => b.length - a.length);
  const found = new Map<string, Map<string, MetadataValue>>();
  for (const [tag, value] of tags) {
    if (!tag.startsWith(METADATA_PREFIX)) continue;
    const rest = tag.slice(METADATA_PREFIX.length);
    const name = longestFirst.find((each) => rest.startsWith(`${each}.`));
    if (name === undefined) continue;
    const own = found.get(name) ?? new Map<string, MetadataValue>();
    found.set(name, own.set(rest.slice(name.length + 1), value));
  }
  return found;
}
