import { compareCodePoints } from "../code-points.ts";
import {
  CLOSE_BRACKET,
  COMMA,
  damaged,
  enterObject,
  leaveObject,
  nextEntry,
  OPEN_BRACKET,
  QUOTE,
  skipColon,
  skipString,
  skipValue,
  stringOf,
} from "./scan.ts";

/** One object text of many canonical values. Keys must be unique. */
export function joinObject(entries: Iterable<readonly [key: string, jsonText: string]>): string {
  const sorted = [...entries].sort((a, b) => compareCodePoints(a[0], b[0]));
  return `{${sorted.map(([key, jsonText]) => `${JSON.stringify(key)}:${jsonText}`).join(",")}}`;
}

/** The reverse of `joinObject`: key → value text. Throws `corrupt` when the text is not a canonical object. */
export function splitObject(objectText: string): Map<string, string> {
  const entries = new Map<string, string>();
  let at = enterObject(objectText, 0);
  while (objectText.charCodeAt(at) === QUOTE) {
    const keyEnd = skipString(objectText, at);
    const valueAt = skipColon(objectText, keyEnd);
    const valueEnd = skipValue(objectText, valueAt);
    entries.set(stringOf(objectText, at, keyEnd), objectText.slice(valueAt, valueEnd));
    at = nextEntry(objectText, valueEnd);
  }
  if (leaveObject(objectText, at) !== objectText.length) throw damaged(objectText);
  return entries;
}

/** The texts of the items of a canonical list. Throws `corrupt`. */
export function splitList(listText: string): string[] {
  if (listText.charCodeAt(0) !== OPEN_BRACKET) throw damaged(listText);
  const items: string[] = [];
  if (listText === "[]") return items;
  for (let at = 1; ;) {
    const end = skipValue(listText, at);
    const unit = listText.charCodeAt(end);
    const isLast = unit === CLOSE_BRACKET && end + 1 === listText.length;
    if (end === at || !(isLast || unit === COMMA)) throw damaged(listText);
    items.push(listText.slice(at, end));
    if (isLast) return items;
    at = end + 1;
  }
}
