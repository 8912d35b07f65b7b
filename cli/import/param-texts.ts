import { normalJson } from "#sdk/tracker/fsspec/member-texts.ts";

/** Whether the server has that value; the text must be a normal one. */
export function isSame(stored: Readonly<Record<string, string>>, key: string, text: string): boolean {
  return Object.hasOwn(stored, key) && normalJson(stored[key]!) === text;
}

/** A plain assignment of a key such as "__proto__" would not make a member of it. */
export function record(entries: ReadonlyMap<string, string>): Record<string, string> {
  const made: Record<string, string> = {};
  for (const [key, value] of entries) {
    Object.defineProperty(made, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return made;
}
