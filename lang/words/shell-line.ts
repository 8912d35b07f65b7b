const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** A command as it would be typed in a shell, so that an argument with a space is seen as one. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => (PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}
