import { isShortId } from "#sdk/run-facts.ts";

/** The beginning of an id in the form of the server; undefined if the text is not one. */
export function readShortId(text: string): string | undefined {
  const id = text.trim().toLowerCase();
  return isShortId(id) ? id : undefined;
}
