/** As in the command line: with fewer digits it is more likely a name, and a whole id has 32. */
const SHORT_ID = /^[0-9a-f]{6,31}$/;
/** How many are offered when several ids begin alike. */
export const SHORT_ID_CANDIDATES = 10;

/** The beginning of an id in the form of the server; undefined if the text is not one. */
export function readShortId(text: string): string | undefined {
  const id = text.trim().toLowerCase();
  return SHORT_ID.test(id) ? id : undefined;
}
