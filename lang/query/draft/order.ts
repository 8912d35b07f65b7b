/** The order of a query that may be half typed: taken off, changed and put on again as text. */
import type { Field } from "../ast.ts";
import { findField, splitAtCommas } from "../field-text.ts";
import type { Keyword } from "../keywords.ts";
import { type DraftToken, tokenizeDraft } from "../lexer.ts";

export interface OrderText {
  /** The field as it was typed. */
  text: string;
  descending: boolean;
}

export interface DraftOrder extends OrderText {
  /** Undefined where the text is not a field, or not one yet. */
  field: Field | undefined;
}

export interface SplitQuery {
  /** As it was typed, and empty where there is none. */
  condition: string;
  /** From `order by` on, as it was typed, and empty where there is none. */
  order: string;
  orders: DraftOrder[];
}

export function splitOrder(query: string): SplitQuery {
  const tokens = tokenizeDraft(query);
  const place = tokens.findIndex((token, i) => isWord(token, "order") && isWord(tokens[i + 1], "by"));
  if (place < 0) return { condition: query.trim(), order: "", orders: [] };
  const { at } = tokens[place]!;
  return {
    condition: query.slice(0, at).trim(),
    order: query.slice(at).trim(),
    orders: splitAtCommas(tokens.slice(place + 2)).map((item) => draftOrder(query, item)),
  };
}

export function joinOrder(condition: string, orders: readonly OrderText[]): string {
  if (orders.length === 0) return condition;
  const list = orders.map(({ text, descending }) => (descending ? `${text} desc` : text));
  return `${condition} order by ${list.join(", ")}`.trim();
}

function draftOrder(query: string, item: readonly DraftToken[]): DraftOrder {
  const last = item.at(-1)!;
  const descending = isWord(last, "desc");
  const hasDirection = item.length > 1 && (descending || isWord(last, "asc"));
  const text = query.slice(item[0]!.at, (hasDirection ? item.at(-2)! : last).end);
  return { text, field: findField(text), descending: hasDirection && descending };
}

function isWord(token: DraftToken | undefined, word: Keyword): boolean {
  return token?.kind === "word" && token.text.toLowerCase() === word;
}
