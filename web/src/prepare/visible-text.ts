/**
 * Names are untrusted. React escapes markup, but a control character can hide part of a name, and a bidirectional
 * override can make it read as another: both are shown as escapes.
 */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex -- Those are the ones.
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** No language has more marks on one letter; a browser takes minutes to lay out some thousands of them. */
const MARKS_MAX = 16;
const MARKS = new RegExp(`(\\p{M}{${MARKS_MAX}})(\\p{M}+)`, "gu");

/** The text with a limited number of marks on a letter, and the count of the others. */
export function visibleMarks(text: string): string {
  return text.replace(
    MARKS,
    (_, some: string, more: string) => `${some}⟨${Array.from(more).length} more marks⟩`,
  );
}

/** The text on one line, with invisible characters as escapes such as ⟨U+202E⟩. Joiners of emoji stay. */
export function visibleText(text: string): string {
  return visibleMarks(text).replace(UNSEEN, (character) => {
    if (character === "\n") return "↵";
    if (character === "\t") return "⇥";
    return `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** The same for text of several lines, such as a value or a log line: line ends and tabs are kept. */
export function visibleLines(text: string): string {
  return visibleMarks(text).replace(UNSEEN, (character) =>
    character === "\n" || character === "\t" ? character : visibleText(character),
  );
}

/** At most so many characters, with an ellipsis where something is missing. Does not split characters. */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const end = lengthMax - 1;
  const code = text.charCodeAt(end - 1);
  return `${text.slice(0, code >= 0xd800 && code <= 0xdbff ? end - 1 : end)}…`;
}
