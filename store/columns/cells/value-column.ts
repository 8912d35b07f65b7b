import { Cells, EMPTY, type FrozenBlocks } from "./cells.ts";
import { blockRecords, listRecords, readBlocks, readList, type Next } from "../snapshot/column-records.ts";
import { TextRanks } from "./text-ranks.ts";

/** Codes of a value column. Texts have a dictionary; a number is in the column's one lane. */
export const NUMBER = 1;
export const FALSE = 2;
export const TRUE = 3;
export const FIRST_TEXT = 4;

export type Value = number | string | boolean;

const DICTIONARY_MIN = 1024;

const entry = new Float64Array(1);

/** Numbers, texts and bools under one key, at most one per row, mixed as they come. */
export class ValueColumn {
  readonly cells = new Cells(1);
  /** Rises when texts get other codes than they had, or codes other texts. */
  generation = 0;
  /** Made when it is first needed: the texts of most columns of a restored index are never read. */
  #codes: Map<string, number> | undefined;
  #texts: string[] = [];
  #notNumbers = 0;
  #order: TextRanks | undefined;

  set(row: number, value: Value): void {
    let code = NUMBER;
    entry[0] = Number.NaN;
    if (typeof value === "number") entry[0] = value;
    else if (typeof value === "string") code = this.findCode(value) ?? this.#addText(value);
    else code = value ? TRUE : FALSE;
    const before = this.cells.set(row, code, entry);
    this.#notNumbers += Number(code > NUMBER) - Number(before > NUMBER);
  }

  setOrDelete(row: number, value: Value | undefined): void {
    if (value === undefined) this.delete(row);
    else this.set(row, value);
  }

  delete(row: number): void {
    if (this.cells.delete(row) > NUMBER) this.#notNumbers--;
  }

  value(row: number): Value | undefined {
    const code = this.cells.code(row);
    if (code === EMPTY) return undefined;
    if (code === NUMBER) return this.cells.number(row, 0);
    return code < FIRST_TEXT ? code === TRUE : this.text(code);
  }

  /** True while no row holds a text or a bool. */
  get onlyNumbers(): boolean {
    return this.#notNumbers === 0;
  }

  /** One more than the highest code. */
  get codeCount(): number {
    return FIRST_TEXT + this.#texts.length;
  }

  /** The text of a code from FIRST_TEXT on. */
  text(code: number): string {
    return this.#texts[code - FIRST_TEXT]!;
  }

  /** The texts in order; kept from the first time on. */
  get order(): TextRanks {
    return (this.#order ??= new TextRanks(this, FIRST_TEXT));
  }

  /** Gives every text the one that replaces it, whatever rows have it; no two may become the same. */
  replaceTexts(replacement: (text: string) => string): void {
    // Another list: what was captured keeps its own.
    this.#texts = this.#texts.map(replacement);
    this.#codes = undefined;
    this.generation++;
  }

  findCode(text: string): number | undefined {
    return this.#codesByText.get(text);
  }

  get #codesByText(): Map<string, number> {
    if (this.#codes === undefined) {
      this.#codes = new Map();
      for (let at = 0; at < this.#texts.length; at++) this.#codes.set(this.#texts[at]!, FIRST_TEXT + at);
    }
    return this.#codes;
  }

  /** The current column. Later reads of it return the same. */
  capture(): Generator {
    return captured(this.#texts, this.#texts.length, this.#notNumbers, this.cells.freeze());
  }

  static restore(next: Next): ValueColumn {
    const column = new ValueColumn();
    column.#notNumbers = next() as number;
    column.#texts = readList(next);
    readBlocks(column.cells, next);
    return column;
  }

  #addText(text: string): number {
    if (this.#texts.length > Math.max(DICTIONARY_MIN, 2 * this.cells.filled)) this.#forgetUnused();
    const code = FIRST_TEXT + this.#texts.length;
    this.#texts.push(text);
    this.#codesByText.set(text, code);
    return code;
  }

  /** Texts stay in the dictionary after their last row; this drops them all at once, since dropping a few at a time is slow. */
  #forgetUnused(): void {
    const texts = this.#texts;
    const renumbered = new Uint32Array(texts.length);
    this.#texts = [];
    this.#codes = undefined;
    this.generation++;
    this.cells.recode((code) => {
      if (code < FIRST_TEXT) return code;
      const at = code - FIRST_TEXT;
      if (renumbered[at] === 0) {
        renumbered[at] = FIRST_TEXT + this.#texts.length;
        this.#texts.push(texts[at]!);
      }
      return renumbered[at]!;
    });
  }
}

/** Texts are only appended to a list, so its first ones do not change. */
function* captured(
  texts: readonly string[],
  textCount: number,
  notNumbers: number,
  blocks: FrozenBlocks,
): Generator {
  yield notNumbers;
  yield* listRecords(texts, textCount);
  yield* blockRecords(blocks);
}
