/**
 * Metadata as JSON text in which every number keeps its value. Text is what Python's json module writes and reads:
 * integers of any length, and NaN, Infinity and -Infinity as words.
 */
import { JsonError, parseJson } from "#lang/json/parse.ts";
import { jsonValue, writeJson } from "#lang/json/write.ts";
import type { MetadataValue } from "./api.ts";

/** Deeper nesting is a mistake. */
export const METADATA_DEPTH_MAX = 512;

export interface MetadataText {
  json: string;
  /** The type of a value that is not JSON, when `json` is only its text; such as "function". */
  textOf: string | undefined;
}

/** Any value of a job. Never throws: a value that is not JSON, or throws when it is read, becomes a text. */
export function writeMetadata(value: unknown): MetadataText {
  try {
    return { json: writeJson(value, { depthMax: METADATA_DEPTH_MAX }), textOf: undefined };
  } catch {
    return { json: JSON.stringify(textOf(value)), textOf: kindOf(value) };
  }
}

function textOf(value: unknown): string {
  try {
    return String(value).toWellFormed();
  } catch {
    return Object.prototype.toString.call(value);
  }
}

function kindOf(value: unknown): string {
  if (typeof value !== "object") return typeof value;
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** Throws a SyntaxError for invalid JSON. */
export function readMetadata(json: string): MetadataValue {
  try {
    return jsonValue(parseJson(json, { depthMax: METADATA_DEPTH_MAX, isForeign: true }));
  } catch (thrown) {
    if (thrown instanceof JsonError) throw new SyntaxError(thrown.message, { cause: thrown });
    throw thrown;
  }
}
