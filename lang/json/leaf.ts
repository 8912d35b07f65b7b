import { canonicalText } from "./canonical.ts";
import { JsonError, parseJson, unquoted, type JsonLeaf } from "./parse.ts";

/** A value of params that is not split further. */
export interface ParamLeaf {
  readonly type: JsonLeaf["type"] | "list" | "object";
  /** JSON text as written. */
  readonly source: string;
}

/** Of canonical text, whose first character says what it is. */
export function leafOf(source: string): ParamLeaf {
  return { type: TYPES.get(source[0]!) ?? "number", source };
}

const TYPES: ReadonlyMap<string, ParamLeaf["type"]> = new Map([
  ['"', "text"],
  ["[", "list"],
  ["{", "object"],
  ["t", "bool"],
  ["f", "bool"],
  ["n", "null"],
]);

/** The content of a string, otherwise the JSON text. */
export function leafContent({ type, source }: ParamLeaf): string {
  if (type !== "text") return source;
  try {
    return unquoted(source);
  } catch {
    return source;
  }
}

/** For a person: texts without quotes, unless they would look like something else. */
export function leafWord(leaf: ParamLeaf): string {
  const content = leafContent(leaf);
  return leaf.type === "text" && LOOKS_DIFFERENT.test(content) ? leaf.source : content;
}

const LOOKS_DIFFERENT =
  /^$|^\s|\s$|^["[{]|^(?:true|false|null|NaN|-?Infinity|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/**
 * JSON text that is equal exactly for equal values: numbers by their exact decimal value, however they were written (1,
 * 1.0 and 1e0), strings by their content. -0.0 differs from 0.0, NaN is the same as NaN.
 */
export function leafIdentity({ type, source }: ParamLeaf): string {
  try {
    if (type === "number") return decimalText(source);
    return type === "bool" || type === "null" ? source : canonicalText(parseJson(source), decimalText);
  } catch (thrown) {
    if (thrown instanceof JsonError) return source;
    throw thrown;
  }
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** JavaScript writes no more zeros either. */
const PADDED_MAX = 21;

/** The one literal of a decimal value: as String() writes the nearest double, but with all digits. */
function decimalText(source: string): string {
  const parts = DECIMAL.exec(source);
  if (parts === null) return source;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts;
  const all = whole + fraction;
  const digits = all.slice(zerosFrom(all, 0, 1), zerosFrom(all, all.length - 1, -1) + 1);
  if (digits === "") return `${sign}0`;
  // Where the point is, counted from the first of the digits.
  const point = BigInt(exponent) + BigInt(whole.length - zerosFrom(all, 0, 1));
  return sign + placePoint(digits, point);
}

/** The first place from `at` on that is not zero. A pattern would look again at every zero. */
function zerosFrom(digits: string, at: number, step: 1 | -1): number {
  while (digits[at] === "0") at += step;
  return at;
}

function placePoint(digits: string, point: bigint): string {
  const length = BigInt(digits.length);
  if (point >= length && point <= PADDED_MAX) return digits.padEnd(Number(point), "0");
  if (point > 0n && point <= length) {
    const at = Number(point);
    return at === digits.length ? digits : `${digits.slice(0, at)}.${digits.slice(at)}`;
  }
  if (point <= 0n && point > -6n) return `0.${"0".repeat(Number(-point))}${digits}`;
  const exponent = point - 1n;
  const mantissa = digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`;
  return `${mantissa}e${exponent < 0n ? "-" : "+"}${exponent < 0n ? -exponent : exponent}`;
}
