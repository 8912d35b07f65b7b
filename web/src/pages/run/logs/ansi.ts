import { visibleText } from "../../../prepare/visible-text.ts";

/** A piece of a log line in one style. `colour` is 0 to 7 in the order of terminals; bright ones are the same here. */
export interface AnsiPiece {
  text: string;
  colour?: number;
  bold?: boolean;
}

// oxlint-disable-next-line no-control-regex -- Control sequences begin with it.
const SEQUENCE =
  /\u001b\[([0-9;:]*)([@-~])|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|\u001b[ -/]*[0-~]/g;
const LENGTH_MAX = 20_000;

/**
 * A log line as a terminal shows it: colours are kept, other control sequences are dropped, and a progress bar keeps
 * its last state. Other invisible characters are made visible.
 */
export function ansiPieces(line: string): AnsiPiece[] {
  const text = lastDrawn(line);
  const pieces: AnsiPiece[] = [];
  let style: Omit<AnsiPiece, "text"> = {};
  let at = 0;
  const push = (raw: string) => {
    if (raw !== "") pieces.push({ text: visibleText(raw).replaceAll("⇥", "    "), ...style });
  };
  for (const found of text.matchAll(SEQUENCE)) {
    push(text.slice(at, found.index));
    at = found.index + found[0].length;
    if (found[2] === "m") style = styled(style, found[1]!);
  }
  push(text.slice(at));
  return pieces;
}

/** The same without styles: what is copied. */
export function plainLine(line: string): string {
  return lastDrawn(line).replace(SEQUENCE, "");
}

function lastDrawn(line: string): string {
  const whole =
    line.length > LENGTH_MAX ? `${line.slice(0, LENGTH_MAX)} … (${line.length - LENGTH_MAX} more)` : line;
  const drawn = whole.endsWith("\r") ? whole.slice(0, -1) : whole;
  return drawn.slice(drawn.lastIndexOf("\r") + 1);
}

function styled(before: Omit<AnsiPiece, "text">, codes: string): Omit<AnsiPiece, "text"> {
  let style = before;
  const numbers = codes === "" ? [0] : codes.split(/[;:]/).map(Number);
  for (let i = 0; i < numbers.length; i++) {
    const code = numbers[i]!;
    const { colour: _, ...colourless } = style;
    if (code === 0) style = {};
    else if (code === 1) style = { ...style, bold: true };
    else if (code === 22) {
      const { bold: __, ...thin } = style;
      style = thin;
    } else if (code === 39) style = colourless;
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97))
      style = { ...style, colour: code % 10 };
    // A colour by number or RGB: the next numbers belong to it.
    else if (code === 38 || code === 48) i += numbers[i + 1] === 5 ? 2 : 4;
  }
  return style;
}
