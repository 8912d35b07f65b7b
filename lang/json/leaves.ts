import { limits } from "../limits.ts";
import { leafOf, type ParamLeaf } from "./leaf.ts";
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  damaged,
  enterObject,
  leaveObject,
  nextEntry,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipColon,
  skipString,
  skipValue,
  stringOf,
} from "./scan.ts";

export type Scalar = number | string | boolean | null;

/**
 * Every number, string, bool and null in an object text under its path: keys and list positions
 * joined with dots ("optim.lr", "layers.0"). An empty list or object yields nothing. A key with dots
 * in it has the path of nested keys; where several values share a path, the one with the fewest
 * levels is taken (a flat top-level key before all others), then the first. Numbers become the
 * nearest double. A path of more than keyBytesMax characters yields nothing. Throws `corrupt`.
 */
export function leaves(objectText: string): Iterable<[path: string, scalar: Scalar]> {
  const walk = new LeafWalk(scalarOf, { pathLengthMax: limits.keyBytesMax });
  walk.object(objectText);
  return walk.unique();
}

/**
 * The same for display, from params as they are sent: leaves as they were written, including empty lists and objects. A
 * text that is not canonical JSON is not split.
 */
export function paramLeaves(params: Iterable<readonly [key: string, text: string]>): Map<string, ParamLeaf> {
  const walk = new LeafWalk((text, at, end) => leafOf(text.slice(at, end)), {
    withEmpty: true,
    pathLengthMax: Infinity,
  });
  for (const [key, text] of params) walk.param(key, text);
  return new Map(walk.unique());
}

interface WalkOptions {
  pathLengthMax: number;
  /** An empty list or object is a leaf. */
  withEmpty?: boolean;
}

/** Recursive, as deep as params may be nested. */
class LeafWalk<Leaf> {
  readonly #leafOf: (text: string, at: number, end: number) => Leaf;
  readonly #pathLengthMax: number;
  readonly #withEmpty: boolean;
  readonly #found: [path: string, leaf: Leaf][] = [];
  readonly #levels: number[] = [];
  #text = "";
  /** Without a dot in a key no two values share a path. */
  #dotted = false;

  constructor(
    makeLeaf: (text: string, at: number, end: number) => Leaf,
    { pathLengthMax, withEmpty = false }: WalkOptions,
  ) {
    this.#leafOf = makeLeaf;
    this.#pathLengthMax = pathLengthMax;
    this.#withEmpty = withEmpty;
  }

  object(objectText: string): void {
    this.#text = objectText;
    if (this.#object(0, "", 0) !== objectText.length) throw damaged(objectText);
  }

  param(key: string, text: string): void {
    this.#text = text;
    this.#dotted ||= key.includes(".");
    const before = this.#found.length;
    try {
      const first = text.charCodeAt(0);
      const isNested = first === OPEN_BRACE || first === OPEN_BRACKET;
      if (isNested && this.#value(0, key, 0) === text.length) return;
    } catch {
      // Not JSON: it is shown unchanged.
    }
    this.#found.length = this.#levels.length = before;
    this.#add(key, 0, text.length, 0);
  }

  unique(): [path: string, leaf: Leaf][] {
    if (!this.#dotted) return this.#found;
    const best = new Map<string, number>();
    for (const [index, [path]] of this.#found.entries()) {
      const rival = best.get(path);
      if (rival === undefined || this.#levels[index]! < this.#levels[rival]!) best.set(path, index);
    }
    return Array.from(best.values(), (index) => this.#found[index]!);
  }

  /** Answers where the object ends, like the others below. */
  #object(start: number, prefix: string, level: number): number {
    const text = this.#text;
    let at = enterObject(text, start);
    while (text.charCodeAt(at) === QUOTE) {
      const keyEnd = skipString(text, at);
      const key = stringOf(text, at, keyEnd);
      this.#dotted ||= key.includes(".");
      at = nextEntry(text, this.#value(skipColon(text, keyEnd), prefix === "" ? key : prefix + key, level));
    }
    return leaveObject(text, at);
  }

  #list(at: number, prefix: string, level: number): number {
    const text = this.#text;
    for (let index = 0; ; index++) {
      at = this.#value(at + 1, prefix + index, level);
      const unit = text.charCodeAt(at);
      if (unit === CLOSE_BRACKET) return at + 1;
      if (unit !== COMMA) throw damaged(text);
    }
  }

  #value(at: number, path: string, level: number): number {
    const unit = this.#text.charCodeAt(at);
    if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      return this.#nested(at, unit, path, level);
    }
    const end = skipValue(this.#text, at);
    this.#add(path, at, end, level);
    return end;
  }

  #nested(at: number, unit: number, path: string, level: number): number {
    if (level === limits.paramNestingMax) throw damaged(this.#text);
    const close = unit === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    if (this.#text.charCodeAt(at + 1) === close) {
      if (this.#withEmpty) this.#add(path, at, at + 2, level);
      return at + 2;
    }
    const prefix = `${path}.`;
    return unit === OPEN_BRACE ? this.#object(at, prefix, level + 1) : this.#list(at, prefix, level + 1);
  }

  #add(path: string, at: number, end: number, level: number): void {
    if (path.length > this.#pathLengthMax) return;
    this.#found.push([path, this.#leafOf(this.#text, at, end)]);
    this.#levels.push(level);
  }
}

function scalarOf(text: string, at: number, end: number): Scalar {
  switch (text.charCodeAt(at)) {
    case QUOTE:
      return stringOf(text, at, end);
    case LETTER_T:
      return true;
    case LETTER_F:
      return false;
    case LETTER_N:
      return null;
    default:
      return Number(text.slice(at, end));
  }
}

const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
