import { writeMetadata } from "../metadata-json.ts";

const NESTING_MAX = 64;

/**
 * A nested configuration as flat params: dots for nesting, `_<index>` for the items of a list that holds more than plain
 * values. A list of plain values stays one param, as JSON; so do an empty list and an empty object. Takes objects of
 * any class, Map and Set. Texts are kept as they are, all else becomes JSON text.
 */
export function flattenParams(config: unknown, key = ""): Map<string, string> {
  const params = new Map<string, string>();
  collect(params, config, key, 0);
  return params;
}

function collect(params: Map<string, string>, value: unknown, key: string, depth: number): void {
  if (depth > NESTING_MAX)
    throw new Error(`cannot log param "${key}": it is nested deeper than ${NESTING_MAX}`);
  if (value === undefined) return;
  const entries = entriesOf(value);
  if (entries === undefined) {
    if (key === "") throw new Error(`cannot log params of a ${typeof value}: give an object or a list`);
    params.set(key, paramText(value));
    return;
  }
  for (const [name, item] of entries) collect(params, item, key === "" ? name : `${key}.${name}`, depth + 1);
  if (entries.length === 0 && key !== "") params.set(key, isList(value) ? "[]" : "{}");
}

/** undefined for what is one param. */
function entriesOf(value: unknown): [string, unknown][] | undefined {
  if (isPlain(value)) return undefined;
  if (isList(value)) {
    const items = [...value];
    if (items.length > 0 && items.every(isPlain)) return undefined;
    return items.map((item, index) => [`_${index}`, item]);
  }
  if (value instanceof Map)
    return [...(value as Map<unknown, unknown>)].map(([key, item]) => [String(key), item]);
  return Object.entries(value as object);
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== "object" || value instanceof Date;
}

function isList(value: unknown): value is Iterable<unknown> {
  if (Array.isArray(value) || value instanceof Set) return true;
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** As MLflow holds it. A list is spaced as Python writes it. */
export function paramText(value: unknown): string {
  if (typeof value === "string") return value;
  if (isList(value)) return `[${Array.from(value, (item) => writeMetadata(item).json).join(", ")}]`;
  const { json } = writeMetadata(value);
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}
