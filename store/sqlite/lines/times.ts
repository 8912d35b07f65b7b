/**
 * The times of lines: integers of -2^53 to 2^53. Lines come in bursts, so the difference from the line
 * before is small, often 0; its own difference from the one before that would not be.
 */
import type { ByteReader } from "#base/codec/byte-reader.ts";
import { INTEGER_MAX, type ByteWriter } from "#base/codec/byte-writer.ts";
import { CodecError } from "#base/codec/error.ts";
import { copyDoubles } from "#base/codec/slab.ts";

const DIFFERENCES = 0;
const THOUSANDS = 1; // differences divided by 1000: many clients have milliseconds
const DOUBLES = 2; // for differences that a double does not hold

/** Of none, nothing is written. */
export function writeTimes(out: ByteWriter, times: Float64Array): void {
  if (times.length === 0) return;
  // Nothing is acknowledged that could not be read again.
  requireTimes(times, "write");
  const form = chooseForm(times);
  out.u8(form);
  if (form === DOUBLES) {
    out.copy(times);
    return;
  }
  let previous = times[0]!;
  out.zigzag(previous);
  for (let i = 1; i < times.length; i++) {
    const delta = times[i]! - previous;
    out.zigzag(form === THOUSANDS ? Math.round(delta / 1000) : delta);
    previous = times[i]!;
  }
}

function chooseForm(times: Float64Array): number {
  let thousands = true;
  for (let i = 1; i < times.length; i++) {
    const delta = times[i]! - times[i - 1]!;
    // What is beyond may have been rounded down to it.
    if (Math.abs(delta) >= INTEGER_MAX) return DOUBLES;
    if (thousands && Math.round(delta / 1000) * 1000 !== delta) thousands = false;
  }
  return thousands ? THOUSANDS : DIFFERENCES;
}

export function readTimes(reader: ByteReader, count: number): Float64Array {
  const times = new Float64Array(count);
  if (count === 0) return times;
  const form = reader.u8();
  if (form === DOUBLES) times.set(copyDoubles(reader.bytes, reader.skip(count * 8), count));
  else if (form === DIFFERENCES || form === THOUSANDS) {
    const unit = form === THOUSANDS ? 1000 : 1;
    let time = reader.zigzag();
    times[0] = time;
    for (let i = 1; i < count; i++) times[i] = time += reader.zigzag() * unit;
  } else throw new CodecError(`cannot read times: unknown form ${form}`);
  requireTimes(times, "read");
  return times;
}

function requireTimes(times: Float64Array, verb: string): void {
  for (const time of times) {
    if (Number.isInteger(time) && Math.abs(time) <= INTEGER_MAX) continue;
    throw new CodecError(`cannot ${verb} time "${time}": not an integer of -2^53 to 2^53`);
  }
}
