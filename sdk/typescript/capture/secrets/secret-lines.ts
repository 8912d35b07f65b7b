import { knownSecretRedactor } from "./known-secrets.ts";
import { nameStrength } from "./secret-names.ts";
import { REDACTED, RULES, whole } from "./secret-rules.ts";
import { isSecretInLine, marked, valueAt } from "./secret-values.ts";
import { redactText } from "./secrets.ts";

const BEGIN = new RegExp(RULES.keys.begin);
const END = new RegExp(RULES.keys.end);
const BODY = whole(RULES.keys.body);
const RUN = new RegExp(RULES.keys.run, "g");
/** Colours, and the command that clears the rest of a line. */
const COLOURS = new RegExp(RULES.colours, "g");
/** A name with its value on the next line, or with `|` or `>` and its value on the next lines. */
const BLOCK = /^([ \t]*)(?:- )?["']?([\w.-]{1,127})["']?[ \t]{0,4}:[ \t]{0,4}([|>][-+]?)?$/;
const BLOCK_ENDS = new Set(":|>-+");
const ALONE = /[^ \t:=(){}[\]"',]{1,4096}/y;

interface Key {
  /** How many more lines may belong to it. */
  linesLeft: number;
  /** What each of its lines begins with. */
  prefix: string;
  /** How many lines in a row did not belong to it. */
  foreignLines: number;
}

interface Block {
  indent: number;
  /** Whether all lines that are indented further belong to it, or the next one alone. */
  isText: boolean;
  linesLeft: number;
}

/**
 * Redacts secrets in the lines of one stream, in order: a private key spans many of them. Each line
 * stays one. A line with colours loses them when something in it is redacted.
 */
export class LineRedactor {
  readonly #redactKnown: (text: string) => string;
  readonly #blocks = new Blocks();
  #key: Key | undefined;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#redactKnown = knownSecretRedactor(env);
  }

  redact(line: string): string {
    const plain = line.includes("\u001b") ? line.replace(COLOURS, "") : line;
    const clean = this.#redactPlain(plain);
    return clean === plain ? line : clean;
  }

  #redactPlain(line: string): string {
    const inner =
      (this.#key === undefined ? undefined : this.#redactKey(line, this.#key)) ?? this.#blocks.take(line);
    if (inner !== undefined) return inner;
    const begin = line.includes("-----BEGIN") && !END.test(line) ? BEGIN.exec(line) : null;
    if (begin !== null)
      this.#key = { linesLeft: RULES.keys.linesMax, prefix: line.slice(0, begin.index), foreignLines: 0 };
    return redactText(this.#redactKnown(line), "line");
  }

  /** undefined when the line is not part of the key. */
  #redactKey(line: string, key: Key): string | undefined {
    const ends = END.test(line);
    if (--key.linesLeft <= 0 || ends) this.#key = undefined;
    if (ends) return line.replace(RUN, REDACTED);
    const start = line.startsWith(key.prefix) ? key.prefix.length : 0;
    const body = line.slice(start).trim();
    if (body === "") return line;
    // After another line a word alone may be one of those.
    const isBody =
      BODY.test(body) && (key.foreignLines === 0 || (/[0-9+/=]/.test(body) && !body.includes(":")));
    const clean = isBody ? line.slice(0, start) + REDACTED : line.replace(RUN, REDACTED);
    if (clean !== line) {
      key.foreignLines = 0;
      return clean;
    }
    if (++key.foreignLines > RULES.keys.foreignLinesMax) this.#key = undefined;
    return undefined;
  }
}

/** Values that begin on the line after their name, as in `password: |`. */
export class Blocks {
  #block: Block | undefined;

  /** What is kept of the next line; undefined when it is not part of such a value. */
  take(line: string): string | undefined {
    const redacted = this.#block === undefined ? undefined : this.#redact(line, this.#block);
    if (redacted === undefined && BLOCK_ENDS.has(line[line.length - 1] ?? "")) this.#block = blockAfter(line);
    return redacted;
  }

  #redact(line: string, block: Block): string | undefined {
    const start = line.search(/[^ \t]|$/);
    if (block.isText && start === line.length) return line;
    const isInner = start > block.indent;
    if (!block.isText || !isInner || --block.linesLeft <= 0) this.#block = undefined;
    if (!isInner) return undefined;
    if (block.isText) return line.slice(0, start) + REDACTED;
    const value = valueAt(line, start, ALONE);
    const isAlone = /^,?[ \t]{0,8}$/.test(line.slice(value.end));
    if (!isAlone || !isSecretInLine(value.inner, "strong")) return undefined;
    return line.slice(0, value.start) + marked(value) + line.slice(value.end);
  }
}

function blockAfter(line: string): Block | undefined {
  const match = BLOCK.exec(line);
  if (match === null || nameStrength(match[2]!) !== "strong") return undefined;
  return { indent: match[1]!.length, isText: match[3] !== undefined, linesLeft: RULES.keys.linesMax };
}
