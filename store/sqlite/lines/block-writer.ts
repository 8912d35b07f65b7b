import { constants, zstdCompressSync } from "node:zlib";
import { ByteWriter } from "#base/codec/byte-writer.ts";
import { pack } from "#base/codec/pack.ts";
import { sameSource, type LogSource } from "#core/types/log.ts";
import { PACKED, PLAIN, VERSION, type LineRun } from "./block.ts";
import { encodeSources, sourceKey, writeSources, type BlockSource } from "./sources.ts";
import { writeTimes } from "./times.ts";

const ZSTD_SIZE_MIN = 4096;
const ZSTD_OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };
/** What a line weighs beside its text, so that a piece of empty lines has an end, too. */
const LINE_WEIGHT = 16;

/** What is stored of a block besides its place and checksums. */
export interface WrittenBlock {
  count: number;
  /** Bytes of text. */
  size: number;
  /** Of the lines that have a time; Infinity and -Infinity when none has. */
  timeMin: number;
  timeMax: number;
  /** Whether some line has none. */
  untimed: boolean;
  /** As `encodeSources` writes them. */
  sources: Uint8Array<ArrayBuffer>;
  body: Uint8Array<ArrayBuffer>;
}

/** Collects lines and writes them as one block. Reused; writing empties it. */
export class LineBlockWriter {
  readonly #lengths = new ByteWriter(1 << 12);
  readonly #text = new ByteWriter(1 << 16);
  readonly #out = new ByteWriter(1 << 16);
  #sources: BlockSource[] = [];
  readonly #indexes = new Map<string, number>();
  /** Pairs of source and number of lines. */
  #runs: number[] = [];
  #times = new Float64Array(1024);
  #timed = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get weight(): number {
    return weightOf(this.#text.length, this.#count);
  }

  add({ source, times, lengths, text }: LineRun): void {
    const count = lengths.length;
    if (count === 0) return;
    const index = this.#enter(source, times !== undefined);
    const runs = this.#runs;
    // However the lines came in groups, the same lines make the same block.
    if (runs.length > 0 && runs.at(-2) === index) runs[runs.length - 1]! += count;
    else runs.push(index, count);
    if (times !== undefined) this.#addTimes(times);
    for (let i = 0; i < count; i++) this.#lengths.varint(lengths[i]!);
    this.#text.copy(text);
    this.#count += count;
  }

  reset(): void {
    this.#lengths.reset();
    this.#text.reset();
    this.#out.reset();
    this.#sources = [];
    this.#indexes.clear();
    this.#runs = [];
    this.#timed = 0;
    this.#count = 0;
  }

  writePlain(): WrittenBlock {
    const out = this.#out;
    out.u8(VERSION);
    out.u8(PLAIN);
    this.#writeHead();
    out.copy(this.#text.written());
    return this.#finish();
  }

  writePacked(): WrittenBlock {
    const out = this.#out;
    this.#writeHead();
    const head = out.finish();
    const packedHead = pack(head);
    out.u8(VERSION);
    out.u8(PACKED);
    out.varint(head.length);
    out.varint(packedHead.length);
    out.copy(packedHead);
    out.varint(this.#text.length);
    out.copy(packText(this.#text.written()));
    return this.#finish();
  }

  #enter(source: LogSource, timed: boolean): number {
    const sources = this.#sources;
    const last = this.#runs.at(-2);
    // Mostly it is the one before.
    if (last !== undefined && sources[last]!.timed === timed && sameSource(sources[last]!, source))
      return last;
    const key = `${timed} ${sourceKey(source)}`;
    let index = this.#indexes.get(key);
    if (index === undefined) {
      const { origin, stream, rank } = source;
      index = sources.push({ origin, stream, rank, timed }) - 1;
      this.#indexes.set(key, index);
    }
    return index;
  }

  #addTimes(times: Float64Array): void {
    const needed = this.#timed + times.length;
    if (needed > this.#times.length) {
      const grown = new Float64Array(Math.max(needed, this.#times.length * 2));
      grown.set(this.#times.subarray(0, this.#timed));
      this.#times = grown;
    }
    this.#times.set(times, this.#timed);
    this.#timed = needed;
  }

  #writeHead(): void {
    const out = this.#out;
    out.varint(this.#count);
    writeSources(out, this.#sources, true);
    if (this.#sources.length > 1) for (const number of this.#runs) out.varint(number);
    writeTimes(out, this.#times.subarray(0, this.#timed));
    out.copy(this.#lengths.written());
  }

  #finish(): WrittenBlock {
    let timeMin = Infinity;
    let timeMax = -Infinity;
    for (let i = 0; i < this.#timed; i++) {
      const time = this.#times[i]!;
      if (time < timeMin) timeMin = time;
      if (time > timeMax) timeMax = time;
    }
    const body = this.#out.finish();
    const written = {
      count: this.#count,
      size: this.#text.length,
      timeMin,
      timeMax,
      untimed: this.#timed < this.#count,
      sources: encodeSources(this.#sources),
      body,
    };
    this.reset();
    return written;
  }
}

/** How much of a piece's room lines take. */
export function weightOf(size: number, count: number): number {
  return size + count * LINE_WEIGHT;
}

function packText(text: Uint8Array): Uint8Array {
  if (text.length <= ZSTD_SIZE_MIN) return pack(text);
  const packed = zstdCompressSync(text, ZSTD_OPTIONS);
  return packed.length < text.length ? packed : text;
}
