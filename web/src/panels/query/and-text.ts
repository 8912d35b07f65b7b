import { splitOrder } from "#lang/query/draft/order.ts";
import { tokenizeDraft, type DraftToken } from "#lang/query/lexer.ts";

/** The query with one more condition, in front of its order. The rest stays as it was typed, also where it is half typed. */
export function andText(query: string, added: string): string {
  const { condition, order } = splitOrder(query);
  const rest = tokenizeDraft(condition).some((token) => isWord(token, "or")) ? `(${condition})` : condition;
  return joined(rest === "" ? added : `${rest} and ${added}`, order);
}

/** Parts of a query, without those that are empty. */
export function joined(...parts: readonly string[]): string {
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join(" ");
}

export function isWord(token: DraftToken | undefined, word: string): boolean {
  return token?.kind === "word" && token.text.toLowerCase() === word;
}
