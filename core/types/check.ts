import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { canonicalJson } from "#lang/json/canonical.ts";
import type { Labels } from "./series.ts";

/** Checks of single values as they come in. Each throws `invalid` or, for sizes, `exhausted`. */

export function requireText(text: string, bytesMax: number, what: string): string {
  if (!text.isWellFormed()) {
    throw new CairnError("invalid", `cannot accept ${what} ${quote(text)}: it is not valid Unicode`);
  }
  // Three bytes per UTF-16 unit is the most UTF-8 takes: short texts need no count.
  if (text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax) {
    throw tooLarge(what, Buffer.byteLength(text), bytesMax, "bytes", quote(text));
  }
  return text;
}

export function requireAtMost(count: number, max: number, what: string): void {
  if (count > max) throw tooLarge(what, count, max, "", undefined);
}

// oxlint-disable-next-line no-control-regex -- that is what it looks for
const CONTROL = /[\u0000-\u001f\u007f]/;

/** A metric key, param key, tag key or label name: not empty, no control characters. */
export function requireKey(key: string, what: string, bytesMax: number = limits.keyBytesMax): string {
  requireText(key, bytesMax, what);
  if (key === "") throw new CairnError("invalid", `cannot accept ${what} "": it is empty`);
  if (CONTROL.test(key)) {
    throw new CairnError("invalid", `cannot accept ${what} ${quote(key)}: it holds a control character`);
  }
  return key;
}

export function requireLabels(pairs: (readonly [string, string])[], key: string): Labels {
  if (pairs.length === 0) return NO_LABELS;
  if (pairs.length > limits.labelsMax) {
    throw tooLarge(`labels of series ${quote(key)}`, pairs.length, limits.labelsMax, "", undefined);
  }
  for (const [name, value] of pairs) {
    requireKey(name, "label name", limits.labelBytesMax);
    requireText(value, limits.labelBytesMax, `label ${quote(name)}`);
    if (CONTROL.test(value)) {
      throw new CairnError("invalid", `cannot accept label ${quote(name)}: it holds a control character`);
    }
  }
  pairs.sort(([a], [b]) => (a < b ? -1 : 1));
  const twice = pairs.find(([name], i) => i > 0 && pairs[i - 1]![0] === name);
  if (twice !== undefined) {
    throw new CairnError("invalid", `cannot accept label ${quote(twice[0])} of series ${quote(key)} twice`);
  }
  return pairs;
}

const NO_LABELS: Labels = [];

/** Values become canonical JSON text. */
export function requireParams(params: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  requireAtMost(params.size, limits.paramsPerRunMax, "params");
  const checked = new Map<string, string>();
  for (const [key, text] of params) {
    requireKey(key, "param key");
    checked.set(key, canonicalJson(text, `param ${quote(key)}`));
  }
  requireAtMost(paramsBytes(checked), limits.paramsBytesPerRunMax, "params of one run, in bytes");
  return checked;
}

/** Of keys and values together. */
export function paramsBytes(params: ReadonlyMap<string, string>): number {
  let bytes = 0;
  for (const [key, value] of params) bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  return bytes;
}

export function requireTags(tags: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  requireAtMost(tags.size, limits.tagsPerRunMax, "tags");
  for (const [key, value] of tags) {
    requireKey(key, "tag key");
    requireText(value, limits.tagValueBytesMax, `tag ${quote(key)}`);
  }
  return tags;
}

export function requireAliases(aliases: readonly string[]): readonly string[] {
  requireAtMost(aliases.length, limits.aliasesPerRunMax, "aliases");
  for (const alias of aliases) {
    requireText(alias, limits.aliasBytesMax, "alias");
    if (alias === "") throw new CairnError("invalid", 'cannot accept alias "": it is empty');
  }
  return [...new Set(aliases)];
}

/** Integer microseconds that a double holds exactly. */
export function requireTime(timeUs: number, what: string): number {
  if (Number.isSafeInteger(timeUs)) return timeUs;
  throw new CairnError(
    "invalid",
    `cannot accept ${what} "${timeUs}": times are whole microseconds up to 2^53`,
  );
}

function tooLarge(
  what: string,
  size: number,
  max: number,
  unit: string,
  value: string | undefined,
): CairnError {
  const shown = value === undefined ? what : `${what} ${value}`;
  const amount = unit === "" ? `${size}` : `${size} ${unit}`;
  return new CairnError("exhausted", `cannot accept ${shown}: ${amount} are more than ${max}`, {
    reason: "LIMIT_EXCEEDED",
    facts: { limit: String(max) },
  });
}
