import { compareCodePoints } from "#lang/code-points.ts";
import { splitObject } from "#lang/json/json.ts";
import type { Params } from "../types/run.ts";

/**
 * The value a path such as "optim.lr" or "layers.0" leads to, as the JSON text it has; undefined when there
 * is none. A key with dots in it has the path of nested keys; where several values share a path, the one
 * with the fewest levels is taken, then the one whose first key is the shortest: as in a query.
 */
export function paramAt(params: Params, path: string): string | undefined {
  let level: { entries: ReadonlyMap<string, string>; path: string }[] = [{ entries: params, path }];
  while (level.length > 0) {
    const deeper: typeof level = [];
    for (const { entries, path: rest } of level) {
      const value = entries.get(rest);
      if (value !== undefined) return value;
      for (let dot = rest.indexOf("."); dot >= 0; dot = rest.indexOf(".", dot + 1)) {
        const inner = partsOf(entries.get(rest.slice(0, dot)));
        if (inner !== undefined) deeper.push({ entries: inner, path: rest.slice(dot + 1) });
      }
    }
    level = deeper;
  }
  return undefined;
}

/** What is in an object or a list, by key or position. */
function partsOf(jsonText: string | undefined): ReadonlyMap<string, string> | undefined {
  if (jsonText?.startsWith("{")) return splitObject(jsonText);
  return jsonText?.startsWith("[") ? splitList(jsonText) : undefined;
}

/** Of canonical text: there is no whitespace between the items. */
function splitList(jsonText: string): Map<string, string> {
  const items = new Map<string, string>();
  const end = jsonText.length - 1;
  let depth = 0;
  let quoted = false;
  let from = 1;
  for (let at = 1; at <= end; at++) {
    const char = jsonText[at]!;
    if (quoted) {
      if (char === "\\") at++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === "{" || char === "[") depth++;
    else if (depth > 0 && (char === "}" || char === "]")) depth--;
    else if (depth === 0 && (char === "," || at === end)) {
      if (at > from) items.set(String(items.size), jsonText.slice(from, at));
      from = at + 1;
    }
  }
  return items;
}

/** Numbers by size, then texts, then anything else by its JSON text, then null. */
export function compareValues(a: string, b: string): number {
  const [kindOfA, kindOfB] = [rankOf(a), rankOf(b)];
  if (kindOfA !== kindOfB) return kindOfA - kindOfB;
  if (kindOfA === NUMBER) return compareNumbers(Number(a), Number(b)) || compareCodePoints(a, b);
  if (kindOfA === TEXT) return compareCodePoints(JSON.parse(a) as string, JSON.parse(b) as string);
  return compareCodePoints(a, b);
}

const NUMBER = 0;
const TEXT = 1;
const OTHER = 2;
const NULL = 3;

function rankOf(jsonText: string): number {
  if (jsonText === "null") return NULL;
  if (jsonText.startsWith('"')) return TEXT;
  return /^[-0-9IN]/.test(jsonText) ? NUMBER : OTHER;
}

/** NaN comes behind all others. */
function compareNumbers(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}
