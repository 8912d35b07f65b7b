const encoder = new TextEncoder();

/** How many bytes of UTF-8 a text has. */
export const byteLength: (text: string) => number =
  typeof Buffer === "undefined" ? (text) => encoder.encode(text).length : (text) => Buffer.byteLength(text);
