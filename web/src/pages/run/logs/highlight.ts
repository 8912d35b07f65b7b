export interface Part {
  text: string;
  isMatch: boolean;
}

const PARTS_MAX = 200;

/** The text in pieces, with matches marked. Ignores case. */
export function highlight(text: string, find: string): Part[] {
  if (find === "") return [{ text, isMatch: false }];
  const lower = text.toLowerCase();
  const wanted = find.toLowerCase();
  // Some letters are longer in lower case, which would shift the indexes.
  if (lower.length !== text.length) return [{ text, isMatch: false }];
  const parts: Part[] = [];
  let at = 0;
  for (
    let found = lower.indexOf(wanted);
    found >= 0 && parts.length < PARTS_MAX;
    found = lower.indexOf(wanted, at)
  ) {
    if (found > at) parts.push({ text: text.slice(at, found), isMatch: false });
    at = found + wanted.length;
    parts.push({ text: text.slice(found, at), isMatch: true });
  }
  if (at < text.length) parts.push({ text: text.slice(at), isMatch: false });
  return parts;
}
