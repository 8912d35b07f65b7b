/** Of Node, where it is several times faster; pages have none. */
const { Buffer } = globalThis as { Buffer?: { byteLength(text: string): number } };
const encoder = new TextEncoder();
/** What Node has for it is faster; pages do without. */
const { Buffer } = globalThis as { Buffer?: { byteLength(text: string): number } };

/** How many bytes of UTF-8 a text has. */
export const byteLength: (text: string) => number =
  Buffer === undefined ? (text) => encoder.encode(text).length : (text) => Buffer.byteLength(text);
