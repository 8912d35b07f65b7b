import { limits } from "./limits.ts";

/** What a param may be. Other objects are written as JSON.stringify would write them. */
export type ParamValue =
  | number
  | bigint
  | string
  | boolean
  | null
  | Date
  | readonly ParamValue[]
  | { readonly [key: string]: ParamValue | undefined };

/** The value is nothing that JSON can say. */
export class NotJson extends Error {}

/**
 * JSON text of a value as Python's json would write it: NaN and the infinities by name, a bigint as an integer. Keys
 * whose value is undefined, a function or a symbol are left out. Throws NotJson for what cannot be written at all.
 */
export function jsonText(value: unknown): string {
  const text = write(value, 0, new Set());
  if (text === undefined) throw new NotJson(`a ${typeof value} is no value`);
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes > limits.paramValueBytesMax) {
    throw new NotJson(`it has ${sizeBytes} bytes, the most is ${limits.paramValueBytesMax}`);
  }
  return text;
}

/** undefined for what JSON leaves out. */
function write(given: unknown, depth: number, around: Set<object>): string | undefined {
  switch (typeof given) {
    case "number":
      if (Object.is(given, -0)) return "-0.0";
      return Number.isFinite(given) || Number.isNaN(given)
        ? String(given)
        : given > 0
          ? "Infinity"
          : "-Infinity";
    case "bigint":
    case "boolean":
      return String(given);
    case "string":
      return JSON.stringify(given.toWellFormed());
    case "object":
      break;
    default:
      return undefined;
  }
  if (given === null) return "null";
  if (around.has(given)) throw new NotJson("it contains itself");
  if (depth >= limits.paramNestingMax)
    throw new NotJson(`it is nested deeper than ${limits.paramNestingMax}`);
  around.add(given);
  const text = writeObject(given, depth, around);
  around.delete(given);
  return text;
}

function writeObject(given: object, depth: number, around: Set<object>): string | undefined {
  if ("toJSON" in given && typeof given.toJSON === "function") {
    return write((given.toJSON as (key: string) => unknown)(""), depth, around);
  }
  if (Array.isArray(given) || ArrayBuffer.isView(given) || given instanceof Set) {
    if (given instanceof DataView) throw new NotJson("a DataView is no list of values");
    const items = Array.from(given as Iterable<unknown>, (item) => write(item, depth + 1, around) ?? "null");
    return `[${items.join(",")}]`;
  }
  const entries = given instanceof Map ? [...(given as Map<unknown, unknown>)] : Object.entries(given);
  const parts: string[] = [];
  const seen = new Set<string>();
  for (const [key, value] of entries) {
    const name = String(key).toWellFormed();
    const text = seen.has(name) ? undefined : write(value, depth + 1, around);
    if (text === undefined) continue;
    seen.add(name);
    parts.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${parts.join(",")}}`;
}
