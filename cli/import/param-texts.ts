import { canonicalText } from "#lang/json/canonical.ts";
import type { FsspecMetadata } from "#sdk/tracker/fsspec/fsspec-directory.ts";

/** As the server keeps them. */
export function paramTexts(metadata: FsspecMetadata): Map<string, string> {
  return new Map(Array.from(metadata, ([key, node]) => [key, canonicalText(node)]));
}

/** Whether the server has that value. */
export function isSame(stored: Readonly<Record<string, string>>, key: string, text: string): boolean {
  return Object.hasOwn(stored, key) && stored[key] === text;
}

/** A plain assignment of a key such as "__proto__" would not make a member of it. */
export function record(entries: ReadonlyMap<string, string>): Record<string, string> {
  const made: Record<string, string> = {};
  for (const [key, value] of entries) {
    Object.defineProperty(made, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return made;
}
