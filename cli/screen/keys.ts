/** The name of a key: "a", "/", "up", "enter", "ctrl-c". Unknown sequences are ignored. */
export type Key = string;

const ESC = "\u001b";

const SEQUENCES: Readonly<Record<string, Key>> = {
  "[A": "up",
  "[B": "down",
  "[C": "right",
  "[D": "left",
  OA: "up",
  OB: "down",
  OC: "right",
  OD: "left",
  "[H": "home",
  "[F": "end",
  OH: "home",
  OF: "end",
  "[1~": "home",
  "[4~": "end",
  "[5~": "page-up",
  "[6~": "page-down",
  "[3~": "delete",
};

const CONTROLS: Readonly<Record<string, Key>> = {
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  "\b": "backspace",
  "\u007f": "backspace",
};

/** CSI and SS3 sequences, whole; what follows ESC. */
const SEQUENCE = /^(?:\[[0-?]*[ -/]*[@-~]|O[ -~])/;
/** A sequence that may continue in the next piece of input. */
const BEGUN = /^(?:$|\[[0-?]*[ -/]*$|O$)/;
/** Longer than any sequence of a terminal; then it is not one. */
const SEQUENCE_MAX = 32;

export interface ParsedKeys {
  keys: Key[];
  /** The beginning of a sequence; put it in front of the next piece. Alone, it was the escape key. */
  rest: string;
}

/** The keys in a piece of terminal input. */
export function parseKeys(input: string): ParsedKeys {
  const keys: Key[] = [];
  let at = 0;
  while (at < input.length) {
    const one = String.fromCodePoint(input.codePointAt(at)!);
    if (one !== ESC) {
      keys.push(CONTROLS[one] ?? (one < " " ? controlName(one) : one));
      at += one.length;
      continue;
    }
    const after = input.slice(at + 1, at + 1 + SEQUENCE_MAX);
    const sequence = SEQUENCE.exec(after)?.[0];
    if (sequence !== undefined) {
      const key = SEQUENCES[sequence];
      if (key !== undefined) keys.push(key);
      at += 1 + sequence.length;
    } else if (BEGUN.test(after) && at + 1 + after.length === input.length) {
      return { keys, rest: input.slice(at) };
    } else {
      keys.push("escape");
      at += 1;
    }
  }
  return { keys, rest: "" };
}

/** The byte 3 is Ctrl-C, and so on. */
function controlName(one: string): Key {
  return `ctrl-${String.fromCharCode(one.charCodeAt(0) + 96)}`;
}
