/**
 * A page token names the last row of a page by its sort values, not by a count, so that the next
 * page neither repeats nor misses a row when others are added and deleted in between. It is base64url of JSON:
 * [version, hash of the order, now, values], where each value is [] or [text of a number] or
 * [0, text] or [0, bool].
 */
import { createHash } from "node:crypto";
import { CairnError, quote } from "#lang/errors.ts";
import type { Literal, Order } from "#lang/query/ast.ts";
import { RUN_TIES } from "#lang/query/compare.ts";
import type { Place } from "./ordering.ts";

const VERSION = 1;

export interface PageToken {
  place: Place;
  /** `now` of the first page; later pages measure durations until then too. */
  nowUs: number;
}

export function formatToken({ place, nowUs }: PageToken, orderBy: readonly Order[]): string {
  const values = place.map((value) => {
    if (value === undefined) return [];
    return typeof value === "number" ? [String(value)] : [0, value];
  });
  return Buffer.from(JSON.stringify([VERSION, orderHash(orderBy), nowUs, values])).toString("base64url");
}

/**
 * Throws `invalid` (PAGE_TOKEN) for a text that was not made by `formatToken` with the same order. `ties` is how many values break
 * ties after it: by default those of runs.
 */
export function parseToken(
  token: string,
  orderBy: readonly Order[],
  ties: number = RUN_TIES.length,
): PageToken {
  const refuse = (problem: string) =>
    new CairnError("invalid", `cannot read page token ${quote(token)}: ${problem}`, {
      reason: "PAGE_TOKEN",
      hint: "begin again without a page token",
    });
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(token, "base64url").toString());
  } catch {
    throw refuse("it is damaged");
  }
  if (!Array.isArray(content) || content.length !== 4) throw refuse("it is damaged");
  const [version, hash, nowUs, values] = content as unknown[];
  if (version !== VERSION) throw refuse("it was made by another version");
  if (hash !== orderHash(orderBy)) throw refuse("it belongs to a query with another order");
  if (!Array.isArray(values) || values.length !== orderBy.length + ties || !Number.isSafeInteger(nowUs)) {
    throw refuse("it is damaged");
  }
  const place = values.map((value: unknown) => {
    const parsed = parseValue(value);
    if (parsed === null) throw refuse("it is damaged");
    return parsed;
  });
  return { place, nowUs: Number(nowUs) };
}

function parseValue(value: unknown): Literal | undefined | null {
  if (!Array.isArray(value)) return null;
  const [first, second] = value as unknown[];
  if (value.length === 0) return undefined;
  if (value.length === 1) return typeof first === "string" ? Number(first) : null;
  return typeof second === "string" || typeof second === "boolean" ? second : null;
}

function orderHash(orderBy: readonly Order[]): string {
  const fields = orderBy.map(({ field, descending }) => {
    const { of } = field;
    if (of === "run" || of === "model") return [of, field.name, descending];
    return [of, field.key, of === "metric" ? field.stat : "", descending];
  });
  return createHash("sha256").update(JSON.stringify(fields)).digest("base64url").slice(0, 12);
}
