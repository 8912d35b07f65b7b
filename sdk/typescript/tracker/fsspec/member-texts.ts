/**
 * The members of a JSON object, each as the text it was written in, for who passes values on: 1.0 stays 1.0. Where a
 * key comes twice the last one counts, as for Python. The text must be an object that `readMetadata` has read.
 */
export function memberTexts(objectText: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(objectText, skipSpace(objectText, 0) + 1);
  while (objectText[at] === '"') {
    const keyEnd = skipString(objectText, at);
    const valueAt = skipSpace(objectText, skipSpace(objectText, keyEnd) + 1);
    const valueEnd = skipValue(objectText, valueAt);
    members.set(
      JSON.parse(objectText.slice(at, keyEnd)) as string,
      objectText.slice(valueAt, valueEnd).trimEnd(),
    );
    at = valueEnd;
    if (objectText[at] === ",") at = skipSpace(objectText, at + 1);
  }
  return members;
}

/** The items of a JSON list, likewise. */
function itemTexts(listText: string): string[] {
  const items: string[] = [];
  let at = skipSpace(listText, skipSpace(listText, 0) + 1);
  while (listText[at] !== "]") {
    const end = skipValue(listText, at);
    items.push(listText.slice(at, end).trimEnd());
    at = listText[end] === "," ? skipSpace(listText, end + 1) : end;
  }
  return items;
}

/**
 * One text for all texts of the same value, by which two can be compared: without spaces, keys sorted and each once, numbers as they
 * were written. The text must be one that `readMetadata` has read.
 */
export function normalJson(text: string): string {
  const bare = text.trim();
  switch (bare[0]) {
    case "{": {
      const members = Array.from(memberTexts(bare)).sort(([a], [b]) => (a < b ? -1 : 1));
      return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${normalJson(value)}`).join(",")}}`;
    }
    case "[":
      return `[${itemTexts(bare).map(normalJson).join(",")}]`;
    case '"':
      return JSON.stringify(JSON.parse(bare));
    default:
      return bare;
  }
}

function skipSpace(text: string, at: number): number {
  while (at < text.length && " \t\n\r".includes(text[at]!)) at++;
  return at;
}

function skipString(text: string, at: number): number {
  let end = at + 1;
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end + 1;
}

/** To the ",", "}" or "]" behind the value. */
function skipValue(text: string, at: number): number {
  let depth = 0;
  for (let end = at; ;) {
    const sign = text[end];
    if (sign === '"') {
      end = skipString(text, end);
      continue;
    }
    if (depth === 0 && (sign === "," || sign === "}" || sign === "]" || sign === undefined)) return end;
    if (sign === "{" || sign === "[") depth++;
    else if (sign === "}" || sign === "]") depth--;
    end++;
  }
}
