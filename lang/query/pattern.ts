import { RE2JS, RE2JSException } from "re2js";
import { BoundedMap } from "#base/bounded-map.ts";
import { byteLength } from "#base/byte-length.ts";
import { CairnError, quote } from "../errors.ts";
import { limits } from "../limits.ts";

/**
 * The last ones, since one request may name a pattern thousands of times, and compiling takes milliseconds. A matcher
 * needs two.
 */
const compiled = new BoundedMap<string, RE2JS>(4 * limits.matchersMax);

/**
 * A checked regular expression in RE2 syntax, searched anywhere with `test`. `what` names it in errors, such as
 * `pattern`. Throws `invalid` for a bad one and above patternBytesMax and patternCostMax.
 */
export function compilePattern(text: string, what: string): RE2JS {
  const refuse = (problem: string, hint: string, cause?: unknown) =>
    new CairnError("invalid", `cannot read ${what} ${quote(text)}: ${problem}`, { hint, cause });
  const sizeBytes = byteLength(text);
  if (sizeBytes > limits.patternBytesMax) {
    throw refuse(`${sizeBytes} bytes are more than ${limits.patternBytesMax}`, "shorten the pattern");
  }
  const known = compiled.get(text);
  if (known !== undefined) return known;
  if (!text.isWellFormed()) throw refuse("a lone surrogate is not a character", "remove it");
  if (patternCost(text) > limits.patternCostMax) throw refuse("its repetitions are too large", SMALLER);
  let pattern: RE2JS;
  try {
    pattern = RE2JS.compile(text);
  } catch (thrown) {
    if (!(thrown instanceof RE2JSException)) throw thrown;
    // It quotes the pattern unchanged, and an error must be one line.
    const problem = thrown.message.replace("error parsing regexp: ", "").replaceAll(/\p{Cc}/gu, " ");
    throw refuse(problem, "patterns use RE2 syntax: no lookaround, no backreferences", thrown);
  }
  if (pattern.programSize() > limits.patternCostMax) throw refuse("its repetitions are too large", SMALLER);
  compiled.set(text, pattern);
  return pattern;
}

/** The patterns of one query, which together may cost as much as one. */
export class PatternBudget {
  #cost = 0;

  /** As `compilePattern`; also throws `invalid` for one that is too much with those before it. */
  compile(text: string): RE2JS {
    // What is too long or too dear by itself is refused below, with its own reason.
    const cost = patternCost(text.slice(0, limits.patternBytesMax));
    this.#cost += Math.min(cost, limits.patternCostMax);
    if (cost < this.#cost && this.#cost > limits.patternCostMax) {
      const message = `cannot read pattern ${quote(text)}: the patterns are too large together`;
      throw new CairnError("invalid", message, { hint: "use fewer patterns and smaller counts in {n,m}" });
    }
    return compilePattern(text, "pattern");
  }
}

/** The same for a whole text, as Prometheus has it: "." is any character. */
export function compileAnchored(text: string, what: string): RE2JS {
  // Checked before it is wrapped, because the wrapper could hide an error.
  compilePattern(text, what);
  return compilePattern(`^(?s:${text})$`, what);
}

const SMALLER = "use smaller counts in {n,m}, or * and +";

/**
 * An estimate of the work to compile a pattern: one for each character, times its
 * repetitions. RE2 expands (abc){100} a hundred times, so that 1 KiB of pattern can take seconds; this
 * reads only the text and is cheap. Two more things are expensive: Unicode classes, and wide ranges
 * where case is ignored.
 */
export function patternCost(text: string): number {
  const ignoresCase = /\(\?[a-zA-Z]*i/.test(text);
  const groups: number[] = [];
  let total = BASE_COST;
  let extra = 0;
  let atom = 0;
  const add = (cost: number) => {
    total += cost;
    atom = cost;
  };
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    const counts = char === "{" ? COUNTS.exec(text.slice(at, at + 12)) : null;
    if (counts !== null) {
      const times = Math.max(1, Number(counts[1]), Number(counts[2] ?? 0));
      total += atom * (times - 1);
      atom *= times;
      at += counts[0].length - 1;
    } else if (char === "(") {
      groups.push(total);
      total = GROUP_COST;
    } else if (char === ")") {
      const inside = total;
      total = groups.pop() ?? 0;
      add(inside);
    } else if (char === "[") {
      const end = classEnd(text, at);
      extra += classCost(text.slice(at, end), ignoresCase);
      add(1);
      at = end - 1;
    } else if (char === "\\" && text[at + 1] === "Q") {
      const end = text.indexOf("\\E", at + 2);
      const literal = (end < 0 ? text.length : end) - at - 2;
      total += literal;
      atom = 1;
      at += literal + (end < 0 ? 1 : 3);
    } else if (char === "\\") {
      extra += escapeCost(text[at + 1], ignoresCase);
      add(1);
      at++;
    } else add(1);
  }
  return groups.reduce((sum, before) => sum + before, total) + extra;
}

const COUNTS = /^\{([0-9]{1,4})(?:,([0-9]{0,4}))?\}/;
const BASE_COST = 20;
const GROUP_COST = 2;

function escapeCost(letter: string | undefined, ignoresCase: boolean): number {
  if (letter === "p" || letter === "P") return ignoresCase ? 100 : 20;
  if (letter === "W" || letter === "D" || letter === "S") return 2;
  return 0;
}

/** The index after the closing bracket, which is a plain character directly after the opening one. */
function classEnd(text: string, at: number): number {
  let end = at + 1;
  if (text[end] === "^") end++;
  if (text[end] === "]") end++;
  while (end < text.length && text[end] !== "]") end += text[end] === "\\" ? 2 : 1;
  return Math.min(end + 1, text.length);
}

/** Folding visits every character of a range. A range that ends in ASCII is short. */
function classCost(charClass: string, ignoresCase: boolean): number {
  let cost = 0;
  for (const [, letter] of charClass.matchAll(/\\(.)/gu)) cost += escapeCost(letter, ignoresCase);
  if (!ignoresCase) return cost;
  for (const [, first, last] of charClass.matchAll(/(.)-([^\u0000-\u007f]|\\)/gsu)) {
    const width =
      last === "\\" || first === "\\" ? RANGE_MAX : last!.codePointAt(0)! - first!.codePointAt(0)!;
    cost += Math.ceil(Math.min(width, RANGE_MAX) / 100);
  }
  return cost;
}

/** Above it no character has two cases. */
const RANGE_MAX = 125_252;
