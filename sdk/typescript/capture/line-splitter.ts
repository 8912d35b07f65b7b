import { StringDecoder } from "node:string_decoder";

/** The limit of the server for one line. */
export const LINE_BYTES_MAX = 64 << 10;
/** Room for the remark at the end of a line that was cut. */
const REMARK_BYTES_MAX = 64;

/**
 * Splits the chunks of a stream into lines. A carriage return restarts the line, as a progress bar does, so that only
 * the last state of each line is left. Memory is bounded by one line.
 */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  readonly #decoder = new StringDecoder("utf8");
  /** The unfinished line so far, at most as many characters as a line may have bytes. */
  #partial = "";
  #cutCharacters = 0;
  /** A carriage return came last: with a line feed it ends the line, with anything else it restarts the line. */
  #returned = false;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  write(chunk: string | Uint8Array): void {
    if (typeof chunk === "string") {
      // Half a character of bytes that came before is broken now.
      this.#feed(this.#decoder.end());
      this.#feed(chunk);
    } else {
      this.#feed(this.#decoder.write(chunk));
    }
  }

  /** Hands over the unfinished line. */
  end(): void {
    this.#feed(this.#decoder.end());
    if (this.#partial !== "") this.#finishLine();
  }

  #feed(text: string): void {
    let start = 0;
    while (start < text.length) {
      const newline = text.indexOf("\n", start);
      const end = newline === -1 ? text.length : newline;
      this.#add(text, start, end);
      if (newline === -1) return;
      this.#finishLine();
      start = newline + 1;
    }
  }

  /** Text without a line feed. */
  #add(text: string, start: number, end: number): void {
    if (start === end) return;
    let stop = end;
    while (stop > start && text[stop - 1] === "\r") stop--;
    const lastReturn = stop === start ? -1 : text.lastIndexOf("\r", stop - 1);
    const from = Math.max(start, lastReturn + 1);
    if (from < stop) {
      if (this.#returned || from > start) this.#restart();
      this.#append(text.slice(from, stop));
    }
    this.#returned = stop < end;
  }

  #append(piece: string): void {
    const room = LINE_BYTES_MAX - this.#partial.length;
    this.#partial += piece.length > room ? piece.slice(0, Math.max(0, room)) : piece;
    this.#cutCharacters += Math.max(0, piece.length - Math.max(0, room));
  }

  #restart(): void {
    this.#partial = "";
    this.#cutCharacters = 0;
    this.#returned = false;
  }

  #finishLine(): void {
    const line = fit(this.#partial, this.#cutCharacters);
    this.#restart();
    this.#onLine(line);
  }
}

/** At most LINE_BYTES_MAX bytes of valid text, which says how much is missing. */
function fit(text: string, cutCharacters: number): string {
  const whole = text.toWellFormed();
  if (
    cutCharacters === 0 &&
    (whole.length * 3 <= LINE_BYTES_MAX || Buffer.byteLength(whole) <= LINE_BYTES_MAX)
  ) {
    return whole;
  }
  const bytes = new Uint8Array(LINE_BYTES_MAX - REMARK_BYTES_MAX);
  const { read } = new TextEncoder().encodeInto(whole, bytes);
  return `${whole.slice(0, read)} … [${whole.length - read + cutCharacters} characters cut]`;
}
