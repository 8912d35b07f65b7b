import { decodeChunk, encodeChunk } from "#base/codec/chunk.ts";
import type { Points, Values } from "#base/codec/points.ts";
import { CairnError } from "#lang/errors.ts";

const ATTEMPTS = 3;
const EVERYTHING = { steps: true, times: true, values: true, reuse: true };

/**
 * A chunk that was read back as these points. Without that the compiler of Node 24 would damage some: it was seen to write the
 * range of the times as that of the steps, once in some 100,000 chunks. The log that has the points, too, is deleted
 * once they are in a chunk. `encode` is another one in tests.
 */
export function encodeVerified(points: Points, encode: typeof encodeChunk = encodeChunk): Uint8Array {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const chunk = encode(points);
    if (readsAs(chunk, points)) return chunk;
  }
  throw new CairnError(
    "internal",
    `cannot store ${points.count} points: they are not read back as they were written`,
    {
      reason: "CHUNK_NOT_VERIFIED",
      hint: "nothing is lost: the points stay in the log; restart the server",
    },
  );
}

function readsAs(chunk: Uint8Array, points: Points): boolean {
  let read: Points;
  try {
    read = decodeChunk(chunk, EVERYTHING);
  } catch {
    return false;
  }
  return (
    read.count === points.count &&
    isSameColumn(read.steps, points.steps) &&
    isSameColumn(read.times, points.times) &&
    isSameColumn(read.nanos, points.nanos) &&
    areSameValues(read.values, points.values)
  );
}

function areSameValues(a: Values, b: Values): boolean {
  if (a.kind === "text" || b.kind === "text") {
    return (
      a.kind === b.kind && a.data.length === b.data.length && a.data.every((text, i) => text === b.data[i])
    );
  }
  return a.kind === b.kind && isSameColumn(a.data, b.data);
}

function isSameColumn(a: ArrayBufferView | undefined, b: ArrayBufferView | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return Buffer.compare(bytesOf(a), bytesOf(b)) === 0;
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
