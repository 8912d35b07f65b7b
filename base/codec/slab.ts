/**
 * Short columns cut from larger buffers. A typed array of its own costs an allocation outside the
 * JavaScript heap, which for a block of ten points is more than all the rest of the work. A slab lives
 * as long as any column cut from it, so columns that are kept for long should be copied.
 */
const SLAB_DOUBLES = 8192;
const OWN_DOUBLES = 1024;

let slab = new Float64Array(SLAB_DOUBLES);
let slabBytes = new Uint8Array(slab.buffer);
let used = 0;

/** The content is undefined until it is written. */
export function takeDoubles(count: number): Float64Array {
  if (count >= OWN_DOUBLES) return new Float64Array(count);
  reserve(count);
  const from = used;
  used += count;
  return slab.subarray(from, used);
}

/** `count` doubles from their bytes, bit for bit. */
export function copyDoubles(bytes: Uint8Array, from: number, count: number): Float64Array {
  const to = from + count * 8;
  if (count >= OWN_DOUBLES) {
    const column = new Float64Array(count);
    new Uint8Array(column.buffer).set(bytes.subarray(from, to));
    return column;
  }
  reserve(count);
  const start = used;
  used += count;
  copyBytes(bytes, from, to, slabBytes, start * 8);
  return slab.subarray(start, used);
}

/** Below some hundred bytes a loop is faster than making a view to copy from. */
export function copyBytes(
  source: Uint8Array,
  from: number,
  to: number,
  target: Uint8Array,
  at: number,
): void {
  if (to - from <= 256) for (let i = from, j = at; i < to; i++) target[j++] = source[i]!;
  else target.set(source.subarray(from, to), at);
}

function reserve(count: number): void {
  if (used + count <= SLAB_DOUBLES) return;
  slab = new Float64Array(SLAB_DOUBLES);
  slabBytes = new Uint8Array(slab.buffer);
  used = 0;
}
