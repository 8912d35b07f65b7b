import { crc32 } from "node:zlib";
import type { Sample, SeriesKind } from "#core/types/series.ts";
import type { SeriesState, WriterMark } from "#core/series/state.ts";

/*
 * A series' state as bytes: little-endian doubles, then, for texts and integers, the exact samples
 * as JSON, then the checksum of all that. docs/formats/series-state.md
 */

const VERSION = 1;
const HEAD = 12;
const SAMPLE = 3;
const WRITERS_AT = HEAD + 4 * SAMPLE;
const WRITER = 4;
const CRC_BYTES = 4;
/** Without writers. */
const BYTES_MIN = (WRITERS_AT + 1) * 8;

export const KINDS: readonly SeriesKind[] = ["number", "integer", "bool", "text"];

export function encodeState(state: SeriesState): Uint8Array {
  const { summary, writers } = state;
  const samples = [summary.first, summary.last, summary.min, summary.max];
  const exact = state.kind === "text" || state.kind === "integer" ? samples.map(exactOf) : undefined;
  const trailer = exact === undefined ? "" : JSON.stringify(exact);
  const present = samples.reduce((bits, sample, i) => (sample === undefined ? bits : bits | (1 << i)), 0);
  const doubles = new Float64Array(WRITERS_AT + 1 + writers.length * WRITER);
  doubles.set([
    VERSION,
    state.total,
    state.stepMin,
    state.stepMax,
    state.timeMin,
    state.timeMax,
    summary.count,
    summary.nanCount,
    summary.replacedCount,
    summary.sum,
    summary.sumSquares,
    present,
  ]);
  samples.forEach((sample, i) => {
    doubles.set([sample?.step ?? NaN, sample?.timeUs ?? NaN, sample?.value ?? NaN], HEAD + i * SAMPLE);
  });
  doubles[WRITERS_AT] = writers.length;
  writers.forEach((mark, i) => {
    doubles.set(
      [mark.writer, mark.firstOrdinal, mark.minStep, mark.maxStepBefore],
      WRITERS_AT + 1 + i * WRITER,
    );
  });
  const size = doubles.byteLength + Buffer.byteLength(trailer);
  const bytes = Buffer.allocUnsafe(size + CRC_BYTES);
  bytes.set(new Uint8Array(doubles.buffer));
  bytes.write(trailer, doubles.byteLength);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, size)), size);
  return bytes;
}

/** undefined for bytes that encodeState did not write. */
export function decodeState(kind: SeriesKind, stored: Uint8Array): SeriesState | undefined {
  const view = openState(stored);
  if (view === undefined) return undefined;
  const bytes = stored.subarray(0, stored.byteLength - CRC_BYTES);
  const at = (index: number) => view.getFloat64(index * 8, true);
  const writerCount = at(WRITERS_AT);
  const doubles = WRITERS_AT + 1 + writerCount * WRITER;
  const trailer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8", doubles * 8);
  const exact = trailer === "" ? [] : (JSON.parse(trailer) as (string | null)[]);
  const present = at(11);
  const sample = (i: number): Sample | undefined => {
    if ((present & (1 << i)) === 0) return undefined;
    const from = HEAD + i * SAMPLE;
    const result: Sample = {
      step: orUndefined(at(from)),
      timeUs: orUndefined(at(from + 1)),
      value: at(from + 2),
    };
    const text = exact[i];
    if (text !== undefined && text !== null) {
      if (kind === "integer") result.integer = BigInt(text);
      else result.text = text;
    }
    return result;
  };
  const writers: WriterMark[] = [];
  for (let i = 0; i < writerCount; i++) {
    const from = WRITERS_AT + 1 + i * WRITER;
    writers.push({
      writer: at(from),
      firstOrdinal: at(from + 1),
      minStep: at(from + 2),
      maxStepBefore: at(from + 3),
    });
  }
  return {
    kind,
    total: at(1),
    stepMin: at(2),
    stepMax: at(3),
    timeMin: at(4),
    timeMax: at(5),
    writers,
    summary: {
      count: at(6),
      nanCount: at(7),
      replacedCount: at(8),
      sum: at(9),
      sumSquares: at(10),
      first: sample(0),
      last: sample(1),
      min: sample(2),
      max: sample(3),
    },
  };
}

/** The numbers of a series in the feed, in its order: see MetricFeed.stats. */
export type SummaryStats = readonly [
  count: number,
  nanCount: number,
  first: number,
  last: number,
  min: number,
  max: number,
  sum: number,
  lastStep: number,
  minStep: number,
  maxStep: number,
];

/** The same numbers straight from the bytes: at the start of a server they are read from every series. */
export function summaryStats(stored: Uint8Array): SummaryStats | undefined {
  const view = openState(stored);
  if (view === undefined) return undefined;
  const at = (index: number) => view.getFloat64(index * 8, true);
  const valueOf = (sample: number) => at(HEAD + sample * SAMPLE + 2);
  const stepOf = (sample: number) => at(HEAD + sample * SAMPLE);
  const values = [valueOf(0), valueOf(1), valueOf(2), valueOf(3)] as const;
  return [at(6), at(7), ...values, at(9), stepOf(1), stepOf(2), stepOf(3)];
}

/** A view of bytes whose checksum and version are right. */
function openState(stored: Uint8Array): DataView | undefined {
  const size = stored.byteLength - CRC_BYTES;
  if (size < BYTES_MIN) return undefined;
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
  const whole = crc32(stored.subarray(0, size)) === view.getUint32(size, true);
  return whole && view.getFloat64(0, true) === VERSION ? view : undefined;
}

function exactOf(sample: Sample | undefined): string | null {
  return sample?.text ?? sample?.integer?.toString() ?? null;
}

function orUndefined(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}
