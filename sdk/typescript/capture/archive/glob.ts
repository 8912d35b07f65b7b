/**
 * The patterns of git's ignore files: `?`, `*`, `[…]`, backslash and `**`. A pattern is compiled to a list of steps, and
 * a text is matched by following all places in the list at once, so that the time is bounded by pattern times text
 * for any ignore file.
 *
 * As in git, everything is bytes: patterns and texts are strings with one character for each byte of UTF-8.
 */

type Step =
  | { is: "byte"; code: number }
  /** One byte out of a set; a set never holds bytes that the pattern may not cross. */
  | { is: "set"; has(code: number): boolean }
  /** Any number of bytes, except slashes. */
  | { is: "star" }
  /** Any number of bytes. */
  | { is: "all" }
  /** `**` and a slash: nothing, or anything that ends before a slash, and the slash. */
  | { is: "folders" };

export interface Glob {
  matches(text: string): boolean;
}

const SLASH = 0x2f;

/** `crossesSlash` is for names, in which there is none. Never throws: a malformed pattern matches nothing. */
export function compileGlob(pattern: string, { crossesSlash }: { crossesSlash: boolean }): Glob {
  const steps = parseSteps(pattern, crossesSlash);
  return { matches: steps === undefined ? () => false : (text) => follow(steps, text) };
}

function follow(steps: readonly Step[], text: string): boolean {
  let places = new Set<number>();
  enter(steps, 0, places);
  for (let at = 0; at < text.length && places.size > 0; at++) {
    const code = text.charCodeAt(at);
    const next = new Set<number>();
    for (const place of places) {
      const step = steps[place];
      switch (step?.is) {
        case "byte":
          if (step.code === code) enter(steps, place + 1, next);
          break;
        case "set":
          if (step.has(code)) enter(steps, place + 1, next);
          break;
        case "star":
          if (code !== SLASH) enter(steps, place, next);
          break;
        case "all":
          enter(steps, place, next);
          break;
        case "folders":
          next.add(place);
          if (code === SLASH) enter(steps, place + 1, next);
          break;
        case undefined:
          break;
      }
    }
    places = next;
  }
  return places.has(steps.length);
}

/** A place, and those that are reached from it without a byte. */
function enter(steps: readonly Step[], place: number, places: Set<number>): void {
  for (let at = place; !places.has(at); at++) {
    places.add(at);
    const is = steps[at]?.is;
    if (is === "folders") {
      // Only where it begins is nothing a match; a place inside it was added by `follow`.
      continue;
    }
    if (is !== "star" && is !== "all") return;
  }
}

function parseSteps(pattern: string, crossesSlash: boolean): Step[] | undefined {
  const steps: Step[] = [];
  let at = 0;
  while (at < pattern.length) {
    const one = pattern[at]!;
    if (one === "*") {
      let end = at;
      while (pattern[end] === "*") end++;
      const rest = pattern.slice(end);
      const isWhole =
        (at === 0 || pattern[at - 1] === "/") && (rest === "" || rest[0] === "/" || rest.startsWith("\\/"));
      if (crossesSlash || (end - at > 1 && isWhole)) {
        const hasFolders = !crossesSlash && rest[0] === "/";
        steps.push({ is: hasFolders ? "folders" : "all" });
        at = hasFolders ? end + 1 : end;
      } else {
        steps.push({ is: "star" });
        at = end;
      }
    } else if (one === "?") {
      steps.push({ is: "set", has: (code) => crossesSlash || code !== SLASH });
      at++;
    } else if (one === "[") {
      const set = parseSet(pattern, at + 1);
      if (set === undefined) return undefined;
      steps.push({ is: "set", has: (code) => (crossesSlash || code !== SLASH) && set.has(code) });
      at = set.end;
    } else {
      if (one === "\\") at++;
      if (at === pattern.length) return undefined;
      steps.push({ is: "byte", code: pattern.charCodeAt(at) });
      at++;
    }
  }
  return steps;
}

interface ByteSet {
  has(code: number): boolean;
  /** Where the pattern continues. */
  end: number;
}

/** What follows a `[`. A `]` in the first place is one of the set. */
function parseSet(pattern: string, start: number): ByteSet | undefined {
  const isNegated = pattern[start] === "!" || pattern[start] === "^";
  const members: ((code: number) => boolean)[] = [];
  let at = isNegated ? start + 1 : start;
  let first = true;
  let previous: number | undefined;
  for (; first || pattern[at] !== "]"; first = false) {
    if (at >= pattern.length) return undefined;
    const named = pattern.startsWith("[:", at) ? parseClass(pattern, at) : undefined;
    if (named !== undefined) {
      if (named.has === undefined) return undefined;
      members.push(named.has);
      previous = undefined;
      at = named.end;
      continue;
    }
    const isRange =
      pattern[at] === "-" && previous !== undefined && at + 1 < pattern.length && pattern[at + 1] !== "]";
    if (isRange) at++;
    if (pattern[at] === "\\") at++;
    if (at >= pattern.length) return undefined;
    const code = pattern.charCodeAt(at);
    const low = isRange ? previous! : code;
    members.push((given) => given >= low && given <= code);
    previous = isRange ? undefined : code;
    at++;
  }
  return { has: (code) => members.some((has) => has(code)) !== isNegated, end: at + 1 };
}

/** undefined when it is not a class; without `has` when the class is unknown. */
function parseClass(
  pattern: string,
  start: number,
): { has: ((code: number) => boolean) | undefined; end: number } | undefined {
  const close = pattern.indexOf("]", start + 2);
  if (close === -1) return { has: undefined, end: pattern.length };
  if (close - 1 < start + 2 || pattern[close - 1] !== ":") return undefined;
  const expression = CLASSES[pattern.slice(start + 2, close - 1)];
  return {
    has: expression && ((code) => expression.test(String.fromCharCode(code))),
    end: close + 1,
  };
}

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  cntrl: /[\u0000-\u001f\u007f]/,
  digit: /[0-9]/,
  graph: /[\u0021-\u007e]/,
  lower: /[a-z]/,
  print: /[\u0020-\u007e]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\v\f\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};
