/** Words that cannot be fields, in upper or lower case. */
const KEYWORDS = [
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
  "infinity",
  "nan",
] as const;
export type Keyword = (typeof KEYWORDS)[number];

const ALL: ReadonlySet<string> = new Set(KEYWORDS);

export function isKeyword(word: string): boolean {
  return ALL.has(word.toLowerCase());
}
