import { compareCodePoints } from "#lang/code-points.ts";

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

/** NaN comes after all others. */
function compareNumbers(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}
