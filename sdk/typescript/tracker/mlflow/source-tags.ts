/**
 * Links of a run as tags of it, so that they last as long as the run and every client sees them:
 *
 *     torchx.source.<hash of source and artifact>   ["source", "artifact" or null]
 *     torchx.parent.<hash of source>                source
 *
 * The keys follow from the link alone: any number of ranks write the same. The second is what children are found by,
 * since MLflow searches for keys, not for parts of values.
 */
import { createHash } from "node:crypto";
import { TrackerSource } from "../api.ts";

const SOURCE_PREFIX = "torchx.source.";
const PARENT_PREFIX = "torchx.parent.";

export function sourceTags(sourceId: string, artifactName: string | null): Map<string, string> {
  const link = JSON.stringify([sourceId, artifactName]);
  return new Map([
    [SOURCE_PREFIX + hash(link), link],
    [parentTag(sourceId), sourceId],
  ]);
}

export function parentTag(sourceId: string): string {
  return PARENT_PREFIX + hash(sourceId);
}

/** By source, then by artifact. */
export function sourcesOf(tags: ReadonlyMap<string, string>): TrackerSource[] {
  const links: string[] = [];
  for (const [key, value] of tags) if (key.startsWith(SOURCE_PREFIX)) links.push(value);
  return links.sort().flatMap((link) => parseLink(link) ?? []);
}

function parseLink(text: string): TrackerSource | undefined {
  try {
    const link: unknown = JSON.parse(text);
    if (!Array.isArray(link)) return undefined;
    const [id, artifact] = link as unknown[];
    if (typeof id !== "string" || (artifact !== null && typeof artifact !== "string")) return undefined;
    return new TrackerSource(id, artifact);
  } catch {
    // A tag of that name was written by hand.
    return undefined;
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
