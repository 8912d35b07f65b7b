/**
 * What a terminal would show: understands as much of its language as our commands use, and throws for the rest, so that
 * nothing is sent by mistake.
 */
export class VirtualScreen {
  #columns: number;
  #rows: number;
  #cells: string[][];
  #saved: string[][] | undefined;
  #row = 0;
  #column = 0;
  #rest = "";
  /** Whether the alternate screen is shown. */
  alternate = false;
  cursorVisible = true;
  wraps = true;
  /** Lines that were written to since the last call of `takeTouched`. */
  #touched = new Set<number>();

  constructor(columns: number, rows: number) {
    this.#columns = columns;
    this.#rows = rows;
    this.#cells = this.#empty();
  }

  get text(): string {
    return this.#cells.map((row) => row.join("").trimEnd()).join("\n");
  }

  line(row: number): string {
    return this.#cells[row]?.join("").trimEnd() ?? "";
  }

  takeTouched(): number[] {
    const touched = [...this.#touched].sort((a, b) => a - b);
    this.#touched.clear();
    return touched;
  }

  resize(columns: number, rows: number): void {
    this.#columns = columns;
    this.#rows = rows;
    this.#cells = this.#empty();
  }

  write(text: string): void {
    let input = this.#rest + text;
    this.#rest = "";
    while (input !== "") {
      // oxlint-disable-next-line no-control-regex
      const control = /^(?:\u001b\[([?=]?)([0-9;]*)([A-Za-z])|[\r\n\b\u0007])/.exec(input);
      if (control !== null) {
        this.#obey(control);
        input = input.slice(control[0].length);
      } else if (input.startsWith("\u001b")) {
        if (input.length > 30) throw new Error(`no such sequence: ${JSON.stringify(input.slice(0, 30))}`);
        this.#rest = input;
        return;
      } else {
        const one = String.fromCodePoint(input.codePointAt(0)!);
        this.#put(one);
        input = input.slice(one.length);
      }
    }
  }

  #put(one: string): void {
    if (one < " " || one === "\u007f") throw new Error(`a raw control character: ${JSON.stringify(one)}`);
    if (this.#column >= this.#columns) {
      if (!this.wraps) return;
      this.#column = 0;
      this.#down();
    }
    this.#cells[this.#row]![this.#column++] = one;
    this.#touched.add(this.#row);
  }

  #down(): void {
    if (this.#row < this.#rows - 1) this.#row++;
    else {
      this.#cells.shift();
      this.#cells.push(this.#blank());
    }
  }

  #obey([whole, kind, numbers, letter]: RegExpExecArray): void {
    if (whole === "\r") this.#column = 0;
    else if (whole === "\n") this.#down();
    else if (letter === undefined) return;
    else if (kind === "?") this.#mode(numbers!, letter);
    else if (letter === "m") return;
    else if (letter === "H") {
      const [row = 1, column = 1] = numbers!.split(";").map((number) => Number(number || 1));
      this.#row = Math.min(this.#rows, row) - 1;
      this.#column = column - 1;
    } else if (letter === "K") {
      this.#cells[this.#row]!.fill(" ", this.#column);
      this.#touched.add(this.#row);
    } else if (letter === "J" && numbers === "2") this.#cells = this.#empty();
    else throw new Error(`no such sequence: ${JSON.stringify(whole)}`);
  }

  #mode(number: string, letter: string): void {
    const on = letter === "h";
    if (number === "1049") {
      if (on) {
        this.#saved = this.#cells;
        this.#cells = this.#empty();
      } else if (this.#saved !== undefined) this.#cells = this.#saved;
      this.alternate = on;
    } else if (number === "25") this.cursorVisible = on;
    else if (number === "7") this.wraps = on;
    else if (number !== "2026") throw new Error(`no such mode: ${number}${letter}`);
  }

  #blank(): string[] {
    return Array.from({ length: this.#columns }, () => " ");
  }

  #empty(): string[][] {
    return Array.from({ length: this.#rows }, () => this.#blank());
  }
}
