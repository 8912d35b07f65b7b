import { leaves } from "#lang/json/leaves.ts";
import { limits } from "#lang/limits.ts";
import type { KeyedColumns } from "./keyed-columns.ts";

/**
 * The leaves of a run's params, null left out, as lang/json/leaves.ts defines them. The built-in parser
 * reads nearly all of them, in half the time; texts that it cannot read (NaN, Infinity), and keys with dots
 * beside nested ones, where two values have one path, are left to `leaves`.
 */
export function putParams(columns: KeyedColumns, row: number, params: string): void {
  columns.begin(row);
  const parsed = parseObject(params);
  if (parsed !== undefined) putObject(columns, parsed, "");
  else {
    for (const [path, value] of leaves(params)) {
      if (value !== null) columns.put(unshared(path), typeof value === "string" ? unshared(value) : value);
    }
  }
  columns.finish();
}

type Parsed = Readonly<Record<string, unknown>>;

function parseObject(params: string): Parsed | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(params);
  } catch {
    return undefined;
  }
  if (!isNesting(parsed) || Array.isArray(parsed)) return undefined;
  for (const key in parsed) if (isNesting(parsed[key])) return hasDottedKey(parsed) ? undefined : parsed;
  return parsed;
}

/** An object, or a list, whose keys are its positions. */
function isNesting(value: unknown): value is Parsed {
  return typeof value === "object" && value !== null;
}

function hasDottedKey(parsed: Parsed): boolean {
  for (const key in parsed) {
    const value = parsed[key];
    if (key.includes(".") || (isNesting(value) && hasDottedKey(value))) return true;
  }
  return false;
}

// With for-in, because the objects of one project share their shape, and with it the list of their keys.
function putObject(columns: KeyedColumns, parsed: Parsed, prefix: string): void {
  for (const key in parsed) {
    const value = parsed[key];
    const path = prefix === "" ? key : prefix + key;
    if (typeof value === "number" || typeof value === "string" || typeof value === "boolean") {
      if (path.length <= limits.keyBytesMax) columns.put(path, value);
    } else if (isNesting(value)) putObject(columns, value, `${path}.`);
  }
}

const SLICED_LENGTH_MIN = 13;

/** A copy of its own: V8 makes a slice of 13 characters or more a view that keeps all of its origin in memory. */
function unshared(text: string): string {
  return text.length < SLICED_LENGTH_MIN ? text : Buffer.from(text, "utf16le").toString("utf16le");
}
