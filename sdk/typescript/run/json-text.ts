import { NotJson, writeJson } from "#lang/json/write.ts";
import { limits } from "#lang/limits.ts";

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

/**
 * JSON text of a param, with keys left out whose value is undefined, a function or a symbol. Throws NotJson for what
 * cannot be written at all, or is more than a server takes.
 */
export function jsonText(value: unknown): string {
  const text = writeJson(value, { depthMax: limits.paramNestingMax, omits: true });
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes > limits.paramValueBytesMax) {
    throw new NotJson(`it has ${sizeBytes} bytes, the most is ${limits.paramValueBytesMax}`);
  }
  return text;
}
