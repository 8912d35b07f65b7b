/**
 * Directories and files of the tracker are named after run ids: RFC 4648 base32 in capitals, padding kept. TorchX
 * encodes ASCII only and decodes UTF-8, so an id with other characters can be read here but never written.
 */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const DIGITS = new Map(Array.from(ALPHABET, (letter, digit) => [letter, digit]));
/** Letters that are left of a last group with 1 to 4 bytes. */
const LETTERS_OF_REST = new Map([
  [0, 0],
  [1, 2],
  [2, 4],
  [3, 5],
  [4, 7],
]);
/** What file systems take. */
const NAME_BYTES_MAX = 255;
const NAME_CHARACTERS_MAX = Math.floor(NAME_BYTES_MAX / 8) * 5;

/** For writing: throws for an id that TorchX could not have written. */
export function nameForWriting(what: "run id" | "source id", id: string): string {
  if (id === "") throw new Error(`cannot use ${what} "": it is empty`);
  // oxlint-disable-next-line no-control-regex
  if (!/^[\u0000-\u007f]*$/.test(id)) {
    throw new Error(
      `cannot use ${what} "${cut(id)}": it has characters beyond ASCII, which a directory of TorchX cannot hold`,
    );
  }
  const name = nameOf(id);
  if (name.length > NAME_BYTES_MAX) {
    throw new Error(
      `cannot use ${what} "${cut(id)}": it has ${id.length} characters, and a file name has room for ${NAME_CHARACTERS_MAX}`,
    );
  }
  return name;
}

/** For reading: any id. */
export function nameOf(id: string): string {
  const bytes = new TextEncoder().encode(id);
  let name = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) name += ALPHABET[(held >> (bits - 5)) & 31];
    held &= (1 << bits) - 1;
  }
  if (bits > 0) name += ALPHABET[(held << (5 - bits)) & 31];
  return name.padEnd(Math.ceil(name.length / 8) * 8, "=");
}

/** undefined for a name that is not one of a run id. */
export function idOf(name: string): string | undefined {
  const letters = name.replace(/=+$/, "");
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const letter of letters) {
    const digit = DIGITS.get(letter);
    if (digit === undefined) return undefined;
    held = (held << 5) | digit;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(held >> bits);
    held &= (1 << bits) - 1;
  }
  if (bytes.length === 0 || letters.length % 8 !== LETTERS_OF_REST.get(bytes.length % 5)) return undefined;
  try {
    const id = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
    // Bits that are left over must be 0 and the padding whole, or two names would be one run.
    return nameOf(id) === name ? id : undefined;
  } catch {
    return undefined;
  }
}

function cut(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}
