import { splitAtOrder } from "../../data/query-text.ts";
import { fieldText, parseField } from "./field.ts";

/** The order in a query, read and written as text: everything else of the query stays as it was typed. */
export interface Order {
  /** As it stands in the query. */
  field: string;
  descending: boolean;
}

const QUOTED_OR_COMMA = /"(?:[^"\\]|\\.)*"|`[^`]*`|,/g;
const DIRECTION = /\s+(asc|desc)\s*$/i;

export function splitOrder(query: string): { condition: string; orders: Order[] } {
  const { condition, order } = splitAtOrder(query);
  const orders = splitCommas(order).map(parseOrder);
  return { condition, orders: orders.filter(({ field }) => field !== "") };
}

function splitCommas(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const found of text.matchAll(QUOTED_OR_COMMA)) {
    if (found[0] !== ",") continue;
    parts.push(text.slice(from, found.index));
    from = found.index + 1;
  }
  return [...parts, text.slice(from)];
}

function parseOrder(text: string): Order {
  const direction = DIRECTION.exec(text);
  const field = (direction === null ? text : text.slice(0, direction.index)).trim();
  return { field, descending: direction?.[1]?.toLowerCase() === "desc" };
}

function joinOrder(condition: string, orders: readonly Order[]): string {
  if (orders.length === 0) return condition;
  const list = orders.map(({ field, descending }) => (descending ? `${field} desc` : field)).join(", ");
  return `${condition} order by ${list}`.trim();
}

/**
 * The query after a click on the header of a field: ascending, then descending, then as before. With `add` it becomes the next thing to order by where
 * others come first.
 */
export function withNextOrder(
  query: string,
  field: string,
  { add = false, descendingFirst = false } = {},
): string {
  const { condition, orders } = splitOrder(query);
  const place = orders.findIndex((order) => sameField(order.field, field));
  const known = orders[place];
  const next =
    known === undefined
      ? { field, descending: descendingFirst }
      : known.descending === descendingFirst
        ? { field, descending: !descendingFirst }
        : undefined;
  if (!add) return joinOrder(condition, next === undefined ? [] : [next]);
  const others = orders.slice();
  if (known === undefined) others.push(next!);
  else if (next === undefined) others.splice(place, 1);
  else others[place] = next;
  return joinOrder(condition, others);
}

/** `metrics.loss` and `metrics.loss.last` are the same. */
export function sameField(one: string, other: string): boolean {
  return plainField(one) === plainField(other);
}

/** A key may be quoted, and a metric without a statistic is its last value. */
function plainField(text: string): string {
  const field = parseField(text);
  return field === undefined ? text : fieldText(field);
}

/** Whether a change of a run's numbers may move it in the list, or in and out of it. */
export function mayMove(query: string): boolean {
  return /\b(?:metrics|updated|duration|status|ended|params|tags|name|notes|alias)\b/i.test(query);
}
