/**
 * Lines in columns, as the body of a piece of a log (docs/formats/log-lines.md). The plain form is written
 * on the way to an acknowledgement, the packed one when pieces are merged. Both hold the same head:
 * a dictionary of sources, which runs of lines are whose, times as differences, and lengths; then the
 * text of all lines run together, so that a search can look at the bytes of a whole piece at once.
 */
import { ByteReader } from "#base/codec/byte-reader.ts";
import { CodecError } from "#base/codec/error.ts";
import { unpack } from "#base/codec/pack.ts";
import type { LogSource } from "#core/types/log.ts";
import { readSources, type BlockSource } from "./sources.ts";
import { readTimes } from "./times.ts";

export const VERSION = 1;
export const PLAIN = 0;
export const PACKED = 1;

const PIECE_BYTES_MAX = 64 << 20;

/** Lines of one source, as they are added to a block. */
export interface LineRun {
  source: LogSource;
  /** undefined for the time of arrival. */
  times: Float64Array | undefined;
  lengths: Uint32Array;
  text: Uint8Array;
}

/**
 * A block that is decoded lazily: a search that finds nothing in the text never
 * decodes the rest. Throws CodecError when the bytes are not a block.
 */
export class LineBlock {
  readonly text: Buffer;
  readonly #packedHead: { bytes: Uint8Array; size: number } | undefined;
  readonly #receivedUs: number;
  #columns: LineColumns | undefined;

  /** `receivedUs` is the time of lines that have none. */
  constructor(body: Uint8Array, receivedUs: number) {
    this.#receivedUs = receivedUs;
    const reader = new ByteReader(body);
    const version = reader.u8();
    if (version !== VERSION) throw new CodecError(`cannot read lines: unknown version ${version}`);
    const form = reader.u8();
    if (form === PLAIN) {
      const columns = readHead(reader, receivedUs);
      this.#columns = columns;
      this.text = asBuffer(reader.take(reader.remaining));
      requireText(columns, this.text);
    } else if (form === PACKED) {
      const headSize = requireSize(reader.varint());
      this.#packedHead = { bytes: reader.take(reader.varint()), size: headSize };
      const textSize = requireSize(reader.varint());
      this.text = asBuffer(unpack(reader.take(reader.remaining), textSize));
    } else throw new CodecError(`cannot read lines: unknown form ${form}`);
  }

  get columns(): LineColumns {
    if (this.#columns === undefined) {
      const { bytes, size } = this.#packedHead!;
      const reader = new ByteReader(unpack(bytes, size));
      const columns = readHead(reader, this.#receivedUs);
      if (reader.remaining > 0) throw new CodecError("cannot read lines: bytes are left over");
      requireText(columns, this.text);
      this.#columns = columns;
    }
    return this.#columns;
  }

  /** Line `i`, counted from the beginning of the block. */
  lineText(i: number): string {
    const { ends } = this.columns;
    return this.text.toString("utf8", i === 0 ? 0 : ends[i - 1]!, ends[i]);
  }

  /** All lines, as they were added. */
  *runs(): Generator<LineRun> {
    const { count, sources, source, times, ends } = this.columns;
    for (let from = 0; from < count;) {
      const index = source[from]!;
      let to = from + 1;
      while (to < count && source[to] === index) to++;
      const start = from === 0 ? 0 : ends[from - 1]!;
      const lengths = new Uint32Array(to - from);
      for (let i = from; i < to; i++) lengths[i - from] = ends[i]! - (i === 0 ? 0 : ends[i - 1]!);
      yield {
        source: sources[index]!,
        times: times.subarray(from, to),
        lengths,
        text: this.text.subarray(start, ends[to - 1]),
      };
      from = to;
    }
  }
}

/** One entry per line, except `sources`. */
export interface LineColumns {
  count: number;
  sources: readonly BlockSource[];
  source: Uint16Array;
  times: Float64Array;
  /** Where each line ends in the text. */
  ends: Uint32Array;
}

function readHead(reader: ByteReader, receivedUs: number): LineColumns {
  const count = reader.varint();
  // A line takes a byte for its length, so what is claimed beyond that is wrong.
  if (count > reader.remaining) throw new CodecError("cannot read lines: more than there are bytes for");
  const sources = readSources(reader, true);
  const source = readRuns(reader, count, sources.length);
  const times = new Float64Array(count);
  let timed = 0;
  for (let i = 0; i < count; i++) if (sources[source[i]!]!.timed) timed++;
  const given = readTimes(reader, timed);
  if (timed === count) times.set(given);
  else
    for (let i = 0, at = 0; i < count; i++) times[i] = sources[source[i]!]!.timed ? given[at++]! : receivedUs;
  const ends = new Uint32Array(count);
  let end = 0;
  for (let i = 0; i < count; i++) {
    end += reader.varint();
    if (end > PIECE_BYTES_MAX) throw tooLong();
    ends[i] = end;
  }
  return { count, sources, source, times, ends };
}

function readRuns(reader: ByteReader, count: number, sources: number): Uint16Array {
  const source = new Uint16Array(count);
  if (sources <= 1) {
    if (sources === 0 && count > 0) throw new CodecError("cannot read lines: they have no source");
    return source;
  }
  for (let at = 0; at < count;) {
    const index = reader.varint();
    const length = reader.varint();
    if (index >= sources || length === 0 || length > count - at) {
      throw new CodecError("cannot read lines: they have an unknown source");
    }
    source.fill(index, at, at + length);
    at += length;
  }
  return source;
}

function requireText({ count, ends }: LineColumns, text: Uint8Array): void {
  if ((count === 0 ? 0 : ends[count - 1]!) !== text.length) {
    throw new CodecError("cannot read lines: their text has another length");
  }
}

function requireSize(size: number): number {
  if (size > PIECE_BYTES_MAX) throw tooLong();
  return size;
}

function tooLong(): CodecError {
  return new CodecError(`cannot read lines: more than ${PIECE_BYTES_MAX} bytes`);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
