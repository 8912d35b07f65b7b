/** The pieces of a query, for colours and completion. It never fails: what it does not know is "other". */
export interface Token {
  kind: "field" | "keyword" | "operator" | "text" | "number" | "space" | "other";
  text: string;
  at: number;
}

export const FIELD_WORDS = [
  "id",
  "name",
  "namespace",
  "notes",
  "status",
  "alias",
  "created",
  "started",
  "ended",
  "updated",
  "duration",
] as const;
const KEYWORDS = new Set([
  "and",
  "or",
  "not",
  "in",
  "like",
  "ilike",
  "is",
  "null",
  "under",
  "order",
  "by",
  "asc",
  "desc",
  "true",
  "false",
  "now",
  "inf",
  "nan",
]);
const PIECES =
  /(?<space>\s+)|(?<text>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|(?<keyed>\b(?:params|tags|metrics)\b(?:\.(?:[\p{L}\p{M}\p{N}_\-/@:#$%&+]+|"(?:[^"\\]|\\.)*"?|`[^`]*`?))*\.?)|(?<ticked>`[^`]*`?)|(?<number>(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?[smhdw]?\b)|(?<word>[\p{L}_][\p{L}\p{M}\p{N}_]*)|(?<operator>==|!=|<=|>=|!~|[=<>~(),+-])|(?<other>.)/giu;

export function queryTokens(query: string): Token[] {
  return [...query.matchAll(PIECES)].map((found) => ({
    kind: kindOf(found.groups!),
    text: found[0],
    at: found.index,
  }));
}

function kindOf(groups: Record<string, string | undefined>): Token["kind"] {
  if (groups["space"] !== undefined) return "space";
  if (groups["text"] !== undefined || groups["ticked"] !== undefined) return "text";
  if (groups["keyed"] !== undefined) return "field";
  if (groups["number"] !== undefined) return "number";
  if (groups["operator"] !== undefined) return "operator";
  const word = groups["word"]?.toLowerCase();
  if (word === undefined) return "other";
  if (KEYWORDS.has(word)) return "keyword";
  return (FIELD_WORDS as readonly string[]).includes(word) ? "field" : "other";
}
