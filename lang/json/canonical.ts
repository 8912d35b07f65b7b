/**
 * Params are sent and stored as canonical JSON text: without whitespace, object keys rising by code point, strings
 * escaped as little as possible, and number literals exactly as they were written. Two texts are equal exactly when the
 * values are written the same: 1 and 1.0 differ, and 9007199254740993 keeps its digits.
 */
import { byteLength } from "#base/byte-length.ts";
import { compareCodePoints } from "../code-points.ts";
import { limits } from "../limits.ts";
import { JsonError, parseJson, type JsonNode } from "./parse.ts";

/** A scalar that is canonical already, if it is valid Unicode. */
const SCALAR =
  // oxlint-disable-next-line no-control-regex -- they must be escaped in JSON
  /^(?:"[^"\\\u0000-\u001f]*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|NaN|-?Infinity)$/;
/** UTF-8 has at most so many bytes for a UTF-16 unit. */
const UNIT_BYTES_MAX = 3;

/**
 * The canonical form of one JSON text. `what` names it in errors, such as `param "lr"`. Throws `invalid` (JSON_SYNTAX,
 * fact column) for what is not JSON, for a key twice in one object, a lone surrogate, nesting over paramNestingMax
 * and more than paramValueBytesMax bytes of `text`.
 */
export function canonicalJson(text: string, what: string): string {
  if (text.length * UNIT_BYTES_MAX > limits.paramValueBytesMax) checkSize(text, what);
  if (SCALAR.test(text) && text.isWellFormed()) return text;
  return canonicalText(parseJson(text, { what }));
}

function checkSize(text: string, what: string): void {
  const sizeBytes = byteLength(text);
  if (sizeBytes <= limits.paramValueBytesMax) return;
  throw new JsonError("large", {
    what,
    cause: `${sizeBytes} bytes are more than ${limits.paramValueBytesMax}`,
    text,
    index: 0,
    hint: "keep it in a file and record where that is",
  });
}

/** The same text for all equal values, with numbers as they were written unless `numberText` changes them. */
export function canonicalText(node: JsonNode, numberText?: (source: string) => string): string {
  switch (node.type) {
    case "list":
      return `[${node.items.map((item) => canonicalText(item, numberText)).join(",")}]`;
    case "object": {
      let text = "";
      for (const key of [...node.entries.keys()].sort(compareCodePoints)) {
        text += `${text === "" ? "" : ","}${quotedKey(key)}:${canonicalText(node.entries.get(key)!, numberText)}`;
      }
      return `{${text}}`;
    }
    case "text":
      return node.source.includes("\\") ? JSON.stringify(JSON.parse(node.source)) : node.source;
    case "number":
      return numberText === undefined ? node.source : numberText(node.source);
    default:
      return node.source;
  }
}

// oxlint-disable-next-line no-control-regex -- they must be escaped in JSON
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Faster than JSON.stringify for nearly all keys. */
function quotedKey(key: string): string {
  return ESCAPED.test(key) ? JSON.stringify(key) : `"${key}"`;
}
