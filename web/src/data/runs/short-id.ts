/** As the command line has it: with fewer digits it is more likely a name, and a whole id has 32. */
const SHORT_ID = /^[0-9a-f]{6,31}$/;
/** As many are offered when several begin alike. */
export const SHORT_ID_CANDIDATES = 10;

/** The beginning of an id as the server has it; undefined for what is none. */
export function readShortId(text: string): string | undefined {
  const id = text.trim().toLowerCase();
  return SHORT_ID.test(id) ? id : undefined;
}
