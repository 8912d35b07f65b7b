import { ownValue } from "#base/own-value.ts";
import { splitList, splitObject } from "./object-text.ts";

/** JSON text by key. */
type Params = ReadonlyMap<string, string> | Readonly<Record<string, string>>;

/**
 * The value a path such as "optim.lr" or "layers.0" leads to, as the JSON text it has; undefined when there is none.
 * It may be a list or an object. Where several values share a path, the one with the fewest levels is taken, then
 * the one whose first key is the shortest: as in a query.
 */
export function paramAt(params: Params, path: string): string | undefined {
  let level = [{ entries: params, path }];
  while (level.length > 0) {
    const deeper: typeof level = [];
    for (const { entries, path: rest } of level) {
      const value = textOf(entries, rest);
      if (value !== undefined) return value;
      for (let dot = rest.indexOf("."); dot >= 0; dot = rest.indexOf(".", dot + 1)) {
        const inner = partsOf(textOf(entries, rest.slice(0, dot)));
        if (inner !== undefined) deeper.push({ entries: inner, path: rest.slice(dot + 1) });
      }
    }
    level = deeper;
  }
  return undefined;
}

function textOf(params: Params, key: string): string | undefined {
  return isMap(params) ? params.get(key) : ownValue(params, key);
}

function isMap(params: Params): params is ReadonlyMap<string, string> {
  return params instanceof Map;
}

/** What is in an object or a list, by key or position. */
function partsOf(text: string | undefined): ReadonlyMap<string, string> | undefined {
  try {
    if (text?.startsWith("{")) return splitObject(text);
    if (text?.startsWith("[")) return new Map(splitList(text).map((item, index) => [String(index), item]));
  } catch {
    // Not JSON: nothing is inside.
  }
  return undefined;
}
