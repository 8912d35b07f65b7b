import { diffWordsWithSpace } from "diff";

interface TokenPart {
  kind: "same" | "added" | "removed";
  text: string;
}

/** Short values need no marks. */
const SHORT_LENGTH = 24;
const LONG_LENGTH = 20_000;
const EDITS_MAX = 400;
/** The least that two texts must share for marks to help. */
const SHARE_MIN = 0.3;
/** The context of a change when the rest is left out. */
const AROUND_LENGTH = 32;
const GAP = " … ";

/** The deletions and insertions from `base` to `other`, word by word. Undefined where marks would not help. */
export function diffTokens(base: string, other: string): TokenPart[] | undefined {
  const [short, long] = [Math.min(base.length, other.length), Math.max(base.length, other.length)];
  if (long < SHORT_LENGTH || short === 0 || long > LONG_LENGTH) return undefined;
  const changes = diffWordsWithSpace(base, other, { maxEditLength: EDITS_MAX });
  if (changes === undefined) return undefined;
  const parts = changes.map(({ added, removed, value }): TokenPart => ({
    kind: added ? "added" : removed ? "removed" : "same",
    text: value,
  }));
  const shared = parts.reduce((sum, { kind, text }) => sum + (kind === "same" ? text.length : 0), 0);
  return shared < SHARE_MIN * long ? undefined : parts;
}

/** The same without long equal parts. */
export function condense(parts: readonly TokenPart[]): TokenPart[] {
  return parts.map((part, i) => {
    const { kind, text } = part;
    const before = i > 0 ? AROUND_LENGTH : 0;
    const after = i < parts.length - 1 ? AROUND_LENGTH : 0;
    if (kind !== "same" || text.length <= before + after + 2 * GAP.length) return part;
    return { kind, text: text.slice(0, before) + GAP + (after === 0 ? "" : text.slice(-after)) };
  });
}
