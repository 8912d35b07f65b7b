/** A text as a literal of the language, with the escapes of JSON and without lone surrogates. */
export function quoteText(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

/** Texts as the list behind `in`. */
export function quoteList(texts: Iterable<string>): string {
  return `(${Array.from(texts, quoteText).join(", ")})`;
}

/** The part of a `like` pattern that means exactly this text; still to be quoted. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}
