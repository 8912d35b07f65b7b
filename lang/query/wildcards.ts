/** The two forms of wildcards, globs of keys and `like` of queries; a `\` makes the next character an ordinary one in both. */

type Piece =
  | { is: "character"; character: string }
  | { is: "one" }
  | { is: "run" }
  /** Any run without "/". */
  | { is: "segment" };

/** The anchored regular expression of a glob: `*` any run without "/", `**` any run, `?` one character. */
export function globToRegex(glob: string): string {
  return anchored("s", piecesOfGlob(glob));
}

/** Whether a key matches a glob, without RE2, which pages do not load. The time is at most length of glob times length of key. */
export function globMatcher(glob: string): (key: string) => boolean {
  const pieces = piecesOfGlob(glob);
  return (key) => {
    const characters = Array.from(key);
    // Whether the pieces so far match the first n characters, for each n.
    let fits = new Uint8Array(characters.length + 1);
    fits[0] = 1;
    for (const piece of pieces) {
      const next = new Uint8Array(characters.length + 1);
      const isLong = piece.is === "run" || piece.is === "segment";
      if (isLong) next[0] = fits[0]!;
      for (const [n, character] of characters.entries()) {
        if (isLong) {
          const isLonger = piece.is === "run" || character !== "/";
          next[n + 1] = fits[n + 1]! | (isLonger ? next[n]! : 0);
        } else if (piece.is === "one" || piece.character === character) next[n + 1] = fits[n]!;
      }
      fits = next;
    }
    return fits.at(-1) === 1;
  };
}

/** The anchored regular expression of a `like` pattern: `%` any run, `_` one character. */
export function likeToRegex(like: string, options: { ignoreCase: boolean }): string {
  const pieces = piecesOf(like, (at) => {
    if (like[at] === "%") return ["run", 1];
    return like[at] === "_" ? ["one", 1] : undefined;
  });
  return anchored(options.ignoreCase ? "is" : "s", pieces);
}

/** The `like` pattern that `likeToRegex` turns into exactly this regular expression, if there is one. */
export function regexToLike(regex: string): { like: string; ignoreCase: boolean } | undefined {
  const frame = /^\^\(\?(s|is):([^]*)\)\$$/.exec(regex);
  if (frame === null) return undefined;
  const ignoreCase = frame[1] === "is";
  const like = frame[2]!.replaceAll(/\\[^]|\.\*|\.|[%_]/g, (piece) => {
    if (piece === ".*") return "%";
    if (piece === ".") return "_";
    if (piece === "%" || piece === "_") return `\\${piece}`;
    return piece === "\\\\" ? piece : piece.slice(1);
  });
  return likeToRegex(like, { ignoreCase }) === regex ? { like, ignoreCase } : undefined;
}

function piecesOfGlob(glob: string): Piece[] {
  return piecesOf(glob, (at) => {
    if (glob[at] === "?") return ["one", 1];
    let stars = 0;
    while (glob[at + stars] === "*") stars++;
    if (stars === 0) return undefined;
    return [stars === 1 ? "segment" : "run", stars];
  });
}

/** `wildcardAt` gives the wildcard that begins at an index, and its length there. */
function piecesOf(
  text: string,
  wildcardAt: (at: number) => [is: keyof typeof REGEXES, length: number] | undefined,
): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < text.length;) {
    const wildcard = wildcardAt(at);
    if (wildcard !== undefined) {
      pieces.push({ is: wildcard[0] });
      at += wildcard[1];
      continue;
    }
    if (text[at] === "\\" && at + 1 < text.length) at++;
    const character = String.fromCodePoint(text.codePointAt(at)!);
    pieces.push({ is: "character", character });
    at += character.length;
  }
  return pieces;
}

function anchored(flags: string, pieces: readonly Piece[]): string {
  const body = pieces.map((piece) =>
    piece.is === "character" ? piece.character.replace(META, "\\$&") : REGEXES[piece.is],
  );
  return `^(?${flags}:${body.join("")})$`;
}

const REGEXES = { one: ".", run: ".*", segment: "[^/]*" } as const;
const META = /[\\.+*?()|[\]{}^$]/;
