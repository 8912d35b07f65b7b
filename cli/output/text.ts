import { stripVTControlCharacters, styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/** Styled when `colour` says so. */
export function paint(colour: boolean, style: Style, text: string): string {
  return colour ? styleText(style, text, { validateStream: false }) : text;
}

/**
 * Untrusted text, made safe for a terminal: control characters, which could move the cursor or change the title, are
 * shown as escapes, and a bidirectional override cannot reorder the text beside it.
 */
export function printable(text: string): string {
  // oxlint-disable-next-line no-misleading-character-class
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f]/gu,
    (one) => {
      if (one === "\n") return "\\n";
      if (one === "\t") return " ";
      return `\\u${one.codePointAt(0)!.toString(16).padStart(4, "0")}`;
    },
  );
}

let segmenter: Intl.Segmenter | undefined;

/** Made when it is first needed: it takes as long as a twentieth of the start of a command, and most text is plain. */
function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}\ufe0f)/u;
/** One column each, and never part of another character: ASCII, Latin, dashes, the marks of statuses and lines of charts. */
const PLAIN = /^[\u0020-\u007e\u00a1-\u00ff\u2013\u2014\u2026\u2190-\u2193\u2500-\u25fc\u2713\u2717]*$/;

/** How many columns of a terminal the text takes; styles take none. */
export function widthOf(text: string): number {
  const bare = text.includes("\u001b") ? stripVTControlCharacters(text) : text;
  if (PLAIN.test(bare)) return bare.length;
  let width = 0;
  for (const { segment } of graphemesOf(bare))
    width += WIDE.test(segment) ? 2 : /^\p{M}/u.test(segment) ? 0 : 1;
  return width;
}

/** At most `columns` wide; what was cut ends with "…". For text without styles. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  if (columns < 1) return "";
  let kept = "";
  let width = 0;
  for (const { segment } of graphemesOf(text)) {
    const wide = widthOf(segment);
    if (width + wide > columns - 1) break;
    kept += segment;
    width += wide;
  }
  return `${kept}…`;
}

export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

export function padStart(text: string, columns: number): string {
  return " ".repeat(Math.max(0, columns - widthOf(text))) + text;
}
