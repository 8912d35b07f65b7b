import { stripVTControlCharacters, type styleText } from "node:util";
import { LogOrigin, type LogLine } from "#proto/cairn/v1/log_pb.ts";
import { paint, printable } from "../output/text.ts";

type Style = Parameters<typeof styleText>[0];

/** Neighbours differ also for people who cannot tell red from green. */
const RANK_STYLES: readonly Style[] = [
  "cyan",
  "yellow",
  "magenta",
  "green",
  "blueBright",
  "redBright",
  "cyanBright",
  "yellowBright",
];

export interface LineTextOptions {
  colour: boolean;
  timestamps: boolean;
  /** As it was logged, with its control sequences. */
  raw: boolean;
}

/** Lines as text, with the rank in front of each as soon as the run has several. */
export class LineText {
  readonly #options: LineTextOptions;
  readonly #ranks = new Set<number | undefined>();
  #rankWidth = 1;

  constructor(options: LineTextOptions) {
    this.#options = options;
  }

  /** To be called with every page before its lines are written. */
  see(lines: readonly LogLine[]): void {
    for (const { rank } of lines) {
      this.#ranks.add(rank);
      if (rank !== undefined) this.#rankWidth = Math.max(this.#rankWidth, String(rank).length);
    }
  }

  of(line: LogLine): string {
    return `${this.#time(line)}${this.#rank(line)}${this.#text(line)}`;
  }

  #time({ timeUs }: LogLine): string {
    if (!this.#options.timestamps) return "";
    const time = new Date(Number(timeUs) / 1000).toISOString();
    return `${paint(this.#options.colour, "dim", time)} `;
  }

  #rank({ rank }: LogLine): string {
    if (this.#ranks.size < 2) return "";
    const label = (rank === undefined ? "" : String(rank)).padStart(this.#rankWidth);
    const style = rank === undefined ? "dim" : RANK_STYLES[rank % RANK_STYLES.length]!;
    return `${paint(this.#options.colour, style, `${label} │`)} `;
  }

  #text({ text, stream, origin }: LogLine): string {
    const shown = this.#options.raw ? text : readable(text);
    if (origin === LogOrigin.SCHEDULER) return paint(this.#options.colour, "blue", shown);
    return stream === "stderr" ? paint(this.#options.colour, "yellow", shown) : shown;
  }
}

/** Safe for a terminal: without its colours, and with the final state of a progress bar that redrew itself. */
export function readable(text: string): string {
  const bare = stripVTControlCharacters(text);
  const states = bare.split("\r").filter((state) => state !== "");
  return printable((states.at(-1) ?? "").replaceAll("\t", "    "));
}
