/**
 * A word of a command, quoted so that it is exact and cannot begin another command or control the terminal it is pasted
 * into.
 */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  // oxlint-disable-next-line no-control-regex -- Those are the ones.
  if (!/[\u0000-\u001f\u007f-\u009f]/.test(word)) return `'${word.replaceAll("'", "'\\''")}'`;
  // oxlint-disable-next-line no-control-regex -- Those are the ones.
  const escaped = word.replace(/[\\'\u0000-\u001f\u007f-\u009f]/g, (one) =>
    one === "\\" || one === "'" ? `\\${one}` : `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `$'${escaped}'`;
}

/** A command as it would be typed in a shell. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}
