/**
 * The whole terminal for one command: the alternate screen, keys, resizing, and the terminal as it was on
 * every way out, on standard output and standard input. What is drawn is a list of lines; only lines that changed are written.
 *
 *     using screen = openScreen({ onKey, onResize });
 *     screen.draw(["first line", "second line"]);
 */
import { writeSync } from "node:fs";
import type { ReadStream, WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { cut, widthOf } from "../output/text.ts";
import { parseKeys, type Key } from "./keys.ts";

const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J";
const LEAVE = "\u001b[0m\u001b[?7h\u001b[?25h\u001b[?1049l";
/** Terminals that support it show a frame as a whole; the others ignore it. */
const FRAME_BEGIN = "\u001b[?2026h";
const FRAME_END = "\u001b[?2026l";
/** A lone escape byte is the key when nothing follows it for this long. */
const ESCAPE_MS = 40;
const STDOUT = 1;

export interface ScreenOptions {
  onKey?: (key: Key) => void;
  /** Draw again: the size has changed, or another program used the terminal meanwhile. */
  onResize?: () => void;
}

export interface Screen extends Disposable {
  readonly columns: number;
  readonly rows: number;
  /** Shows these lines from the top, each cut to the width. Lines must be printable; they may be styled. */
  draw(lines: readonly string[]): void;
  /** Restores the terminal. Calling it again does nothing. */
  close(): void;
}

/**
 * Takes over the terminal. Ctrl-C becomes SIGINT of this process and is not a key; Ctrl-Z stops it, with the terminal
 * restored meanwhile. SIGTERM and SIGHUP restore the terminal and then end the process as usual.
 */
export function openScreen(options: ScreenOptions = {}): Screen {
  return new TerminalScreen(options);
}

class TerminalScreen implements Screen {
  readonly #output: WriteStream = process.stdout;
  /** Keys come from here when it is a terminal. */
  readonly #input: ReadStream | undefined = process.stdin.isTTY ? process.stdin : undefined;
  readonly #options: ScreenOptions;
  /** What is on the screen, line by line; undefined when that is not known. */
  #shown: (string | undefined)[] = [];
  /** Drawn as soon as the terminal has taken what was written before: at most one frame waits. */
  #waiting: readonly string[] | undefined;
  #open = false;
  #closed = false;
  #begun = "";
  #escape: NodeJS.Timeout | undefined;

  constructor(options: ScreenOptions) {
    this.#options = options;
    this.#input?.on("data", this.#onData);
    this.#output.on("resize", this.#onResize);
    this.#output.on("drain", this.#onDrain);
    // Also for uncaught errors: Node prints them after this, where they are visible.
    process.on("exit", this.#leave);
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, this.#onSignal);
    process.on("SIGCONT", this.#onContinue);
    this.#enter();
  }

  get columns(): number {
    return this.#output.columns || 80;
  }

  get rows(): number {
    return this.#output.rows || 24;
  }

  draw(lines: readonly string[]): void {
    if (!this.#open) return;
    if (this.#output.writableNeedDrain) {
      this.#waiting = lines;
      return;
    }
    const frame = this.#difference(lines);
    if (frame !== "") this.#output.write(FRAME_BEGIN + frame + FRAME_END);
  }

  close(): void {
    this.#closed = true;
    this.#leave();
    clearTimeout(this.#escape);
    this.#input?.off("data", this.#onData);
    // Otherwise the process would wait for more input.
    this.#input?.pause();
    this.#output.off("resize", this.#onResize);
    this.#output.off("drain", this.#onDrain);
    process.off("exit", this.#leave);
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.off(signal, this.#onSignal);
    process.off("SIGCONT", this.#onContinue);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #difference(lines: readonly string[]): string {
    let frame = "";
    const { rows, columns } = this;
    for (let row = 0; row < rows; row++) {
      const line = fitted(lines[row] ?? "", columns);
      if (this.#shown[row] === line) continue;
      this.#shown[row] = line;
      frame += `\u001b[${row + 1};1H${line}\u001b[0m\u001b[K`;
    }
    this.#shown.length = rows;
    return frame;
  }

  #enter(): void {
    this.#open = true;
    this.#shown = [];
    this.#input?.setRawMode(true).resume();
    this.#output.write(ENTER);
  }

  /** Written at once and past the stream, because the process may be about to end. */
  readonly #leave = (): void => {
    if (!this.#open) return;
    this.#open = false;
    this.#waiting = undefined;
    try {
      this.#input?.setRawMode(false);
      writeSync(STDOUT, LEAVE);
    } catch {
      // The terminal is gone: there is nothing to restore.
    }
  };

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    this.close();
    process.kill(process.pid, signal);
  };

  readonly #onContinue = (): void => {
    if (this.#closed) return;
    this.#leave();
    this.#enter();
    this.#options.onResize?.();
  };

  readonly #onResize = (): void => {
    this.#shown = [];
    this.#output.write("\u001b[2J");
    this.#options.onResize?.();
  };

  readonly #onDrain = (): void => {
    const lines = this.#waiting;
    this.#waiting = undefined;
    if (lines !== undefined) this.draw(lines);
  };

  readonly #onData = (bytes: Buffer | string): void => {
    clearTimeout(this.#escape);
    const { keys, rest } = parseKeys(this.#begun + String(bytes));
    this.#begun = rest;
    if (rest !== "") this.#escape = setTimeout(this.#onLoneEscape, ESCAPE_MS);
    for (const key of keys) this.#press(key);
  };

  readonly #onLoneEscape = (): void => {
    this.#begun = "";
    this.#press("escape");
  };

  #press(key: Key): void {
    if (key === "ctrl-c") process.kill(process.pid, "SIGINT");
    else if (key === "ctrl-z") {
      this.#leave();
      // The whole group, as the terminal itself would do; also a pipeline and the launcher stop.
      process.kill(0, "SIGTSTP");
      // The system does not stop a process that no shell could continue.
      setImmediate(this.#onContinue);
    } else if (key === "ctrl-l") this.#onResize();
    else this.#options.onKey?.(key);
  }
}

/** A line that is too wide loses its styles, so that none is cut in two. */
function fitted(line: string, columns: number): string {
  return widthOf(line) <= columns ? line : cut(stripVTControlCharacters(line), columns);
}
