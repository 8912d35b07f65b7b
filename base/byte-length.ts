// A browser has no Buffer.
const buffer = (globalThis as { Buffer?: { byteLength(text: string): number } }).Buffer;
const encoder = new TextEncoder();

/** How many bytes of UTF-8 a text has. */
export const byteLength: (text: string) => number =
  buffer === undefined ? (text) => encoder.encode(text).length : (text) => buffer.byteLength(text);
