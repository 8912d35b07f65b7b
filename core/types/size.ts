/** The size of a value besides its texts: a number, a field's tag and length. */
const VALUE_BYTES = 8;

/** About how many bytes plain data takes in an answer: its texts in UTF-8, and a little for everything else. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return VALUE_BYTES + Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return VALUE_BYTES;
  let bytes = VALUE_BYTES;
  if (value instanceof Map) {
    for (const [key, item] of value) bytes += sizeOf(key) + sizeOf(item);
  } else {
    for (const item of Array.isArray(value) ? value : Object.values(value)) bytes += sizeOf(item);
  }
  return bytes;
}
