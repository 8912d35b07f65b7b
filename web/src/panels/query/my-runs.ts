import { splitOrder } from "#lang/query/draft/order.ts";
import { tokenizeDraft, type DraftToken } from "#lang/query/lexer.ts";
import { andText, isWord, joined } from "./and-text.ts";

/** Runs that the caller created: the server knows who that is. */
export const MINE = "creator = me";

/** Whether the query, which may be half typed, asks for the caller's own runs and nothing wider. */
export function isMine(query: string): boolean {
  return findMine(splitOrder(query).condition) !== undefined;
}

/** The query with that condition, or without it. The rest stays as it was typed. */
export function withMine(query: string, isWanted: boolean): string {
  const { condition, order } = splitOrder(query);
  const place = findMine(condition);
  if (isWanted === (place !== undefined)) return query;
  if (place !== undefined) {
    return joined(condition.slice(0, place.from), condition.slice(place.to), order);
  }
  return andText(query, MINE);
}

/** The condition with the `and` beside it; undefined where it is not there, or is one of several choices. */
function findMine(condition: string): { from: number; to: number } | undefined {
  const tokens = tokenizeDraft(condition).filter(({ kind }) => kind !== "end");
  const depths = depthsOf(tokens);
  if (tokens.some((token, i) => depths[i] === 0 && isWord(token, "or"))) return undefined;
  const place = tokens.findIndex(
    (token, i) =>
      depths[i] === 0 &&
      isWord(token, "creator") &&
      isEquals(tokens[i + 1]) &&
      isWord(tokens[i + 2], "me") &&
      !isWord(tokens[i - 1], "not"),
  );
  if (place < 0) return undefined;
  const before = tokens[place - 1];
  const after = tokens[place + 3];
  if (isWord(before, "and")) return { from: before!.at, to: tokens[place + 2]!.end };
  return {
    from: tokens[place]!.at,
    to: isWord(after, "and") ? after!.end : tokens[place + 2]!.end,
  };
}

/** How many parentheses are open around each token. */
function depthsOf(tokens: readonly DraftToken[]): number[] {
  let depth = 0;
  return tokens.map((token) => {
    if (isSymbol(token, "(")) return depth++;
    if (isSymbol(token, ")")) depth--;
    return depth;
  });
}

function isSymbol(token: DraftToken | undefined, text: string): boolean {
  return token?.kind === "symbol" && token.text === text;
}

function isEquals(token: DraftToken | undefined): boolean {
  return isSymbol(token, "=") || isSymbol(token, "==");
}
