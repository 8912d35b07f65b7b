import { BRAILLE, WHOLE_CELL, type Cell, type CellShape } from "./dot-grid.ts";

/** How charts look on a certain terminal. */
export interface ChartStyle {
  readonly shape: CellShape;
  /** 0 for none, else 16 or 256. */
  readonly colours: 0 | 16 | 256;
  readonly frame: { corner: string; across: string; down: string; tickAcross: string; tickDown: string };
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether the terminal shows non-ASCII characters. Containers mostly set no locale at all and still have a
 * UTF-8 terminal around them; the console of Linux has no braille in its font.
 */
export function hasUnicode(env: Environment): boolean {
  if (env["TERM"] === "linux") return false;
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"];
  return locale === undefined || locale === "" || /utf-?8/i.test(locale);
}

export function chartStyle(options: { unicode: boolean; colour: boolean; colourDepth?: number }): ChartStyle {
  const { unicode, colour, colourDepth = 4 } = options;
  return {
    shape: unicode ? BRAILLE : WHOLE_CELL,
    colours: !colour ? 0 : colourDepth >= 8 ? 256 : 16,
    frame: unicode
      ? { corner: "└", across: "─", down: "│", tickAcross: "┬", tickDown: "┤" }
      : { corner: "+", across: "-", down: "|", tickAcross: "+", tickDown: "+" },
  };
}

/** Far apart for all common kinds of colour vision, and bright enough on black and on white. */
const COLOURS_256 = [39, 208, 35, 169, 178, 105, 203, 37] as const;
const COLOURS_16 = [34, 33, 32, 35, 36, 31, 94, 95] as const;
export const COLOURS = COLOURS_256.length;

const MARKERS = ["●", "▲", "■", "◆", "○", "△", "□", "◇"] as const;
const LETTERS = ["*", "+", "x", "o", "#", "@", "%", "&"] as const;

/** Markers for lines where there are no colours. */
export function markerOf(style: ChartStyle, owner: number): string {
  const markers = style.shape === BRAILLE ? MARKERS : LETTERS;
  return markers[owner % markers.length]!;
}

export function cellText({ shape }: ChartStyle, { bits, owner, faint }: Cell): string {
  if (bits === 0) return " ";
  if (shape === BRAILLE) return String.fromCodePoint(0x2800 + bits);
  return faint ? "." : LETTERS[owner % LETTERS.length]!;
}

/** The text in the colour of a line. */
export function inColour(style: ChartStyle, owner: number, text: string, { faint = false } = {}): string {
  if (style.colours === 0 || text.trim() === "") return text;
  const colour =
    style.colours === 256
      ? `38;5;${COLOURS_256[owner % COLOURS]!}`
      : String(COLOURS_16[owner % COLOURS_16.length]!);
  return `\u001b[${faint ? "2;" : ""}${colour}m${text}\u001b[0m`;
}

export function dimmed(style: ChartStyle, text: string): string {
  return style.colours === 0 ? text : `\u001b[2m${text}\u001b[0m`;
}

export function bold(style: ChartStyle, text: string): string {
  return style.colours === 0 ? text : `\u001b[1m${text}\u001b[0m`;
}
