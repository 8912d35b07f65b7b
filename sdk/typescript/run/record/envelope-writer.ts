import { ByteWriter } from "#base/codec/byte-writer.ts";
import { FRAME_HEAD_BYTES, FRAME_KIND, sealFrame } from "../../spool/frame.ts";
import { KIND } from "./kind.ts";
import type { Series } from "./series.ts";

/** Numbers of cairn.v1.Envelope and its parts; proto/cairn/v1/metric.proto and log.proto have the names. */
const LENGTH = 2;
const tag = (field: number, wireType = 0) => (field << 3) | wireType;

export interface LineGroup {
  stream: string;
  /** Given by the program, not captured from its console. */
  written: boolean;
  times: number[];
  lines: string[];
}

/**
 * Writes one cairn.v1.Envelope after the other as a sealed frame of the spool, into a buffer that it keeps: points
 * go from their columns to the bytes on disk without an object for each.
 */
export class EnvelopeWriter {
  readonly #out = new ByteWriter(1 << 14);
  readonly #part = new ByteWriter(1 << 12);
  readonly #column = new ByteWriter(1 << 12);
  readonly #writer: string;
  #seq = 0;

  constructor(writer: string) {
    this.#writer = writer;
  }

  begin(seq: number): void {
    this.#seq = seq;
    this.#out.reset();
    this.#out.reserve(FRAME_HEAD_BYTES);
    this.#out.length = FRAME_HEAD_BYTES;
    this.#text(this.#out, 2, this.#writer);
    this.#number(this.#out, 3, seq);
  }

  /** The frame, good until the next `begin`. */
  finish(): Buffer {
    const { buffer, byteOffset } = this.#out.bytes;
    return sealFrame(Buffer.from(buffer, byteOffset, this.#out.length), FRAME_KIND.envelope, this.#seq);
  }

  series(series: Series): void {
    const { count, kind } = series;
    const part = this.#part;
    part.reset();
    this.#text(part, 1, series.key);
    for (const [name, value] of series.labels) this.#entry(part, 2, name, value);
    if (kind !== KIND.number) this.#number(part, 3, kind);
    if (series.hasSteps) this.#integers(part, 4, series.steps, count);
    this.#integers(part, 5, series.times, count);
    switch (kind) {
      case KIND.number:
        part.varint(tag(6, LENGTH));
        part.varint(count * 8);
        part.copy(series.numbers.subarray(0, count));
        break;
      case KIND.integer:
        for (const value of series.others as bigint[]) zigzagBig(this.#column, value);
        this.#packed(part, 7);
        break;
      case KIND.bool:
        for (const value of series.others) this.#column.u8(value === true ? 1 : 0);
        this.#packed(part, 8);
        break;
      default:
        for (const value of series.others as string[]) this.#text(part, 9, value);
    }
    this.#nest(4);
  }

  param(key: string, json: string): void {
    this.#entry(this.#out, 5, key, json);
  }

  tag(key: string, value: string): void {
    this.#entry(this.#out, 6, key, value);
  }

  status(status: number, endedUs: number): void {
    this.#number(this.#out, 7, status);
    if (endedUs > 0) this.#number(this.#out, 10, endedUs);
  }

  heartbeat(seconds: number): void {
    this.#number(this.#out, 9, seconds);
  }

  lines({ stream, written, times, lines }: LineGroup, rank: number | undefined): void {
    const part = this.#part;
    part.reset();
    this.#text(part, 2, stream);
    if (rank !== undefined) this.#number(part, 3, rank);
    for (const time of times) this.#column.zigzag(time);
    this.#packed(part, 4);
    for (const line of lines) this.#text(part, 5, line);
    if (written) this.#number(part, 6, 1);
    this.#nest(11);
  }

  /** A cairn.v1.ArtifactRecord that was encoded already. */
  artifact(record: Uint8Array): void {
    this.#part.reset();
    this.#part.copy(record);
    this.#nest(12);
  }

  /** A cairn.v1.Provenance that was encoded already: what was captured, or what the program states. */
  provenance(how: "captured" | "stated", provenance: Uint8Array): void {
    this.#part.reset();
    this.#part.copy(provenance);
    this.#nest(how === "captured" ? 14 : 15);
  }

  #nest(field: number): void {
    this.#out.varint(tag(field, LENGTH));
    this.#out.varint(this.#part.length);
    this.#out.copy(this.#part.written());
  }

  #packed(out: ByteWriter, field: number): void {
    out.varint(tag(field, LENGTH));
    out.varint(this.#column.length);
    out.copy(this.#column.written());
    this.#column.reset();
  }

  #integers(out: ByteWriter, field: number, column: Float64Array, count: number): void {
    for (let i = 0; i < count; i++) this.#column.zigzag(column[i]!);
    this.#packed(out, field);
  }

  #text(out: ByteWriter, field: number, value: string): void {
    out.varint(tag(field, LENGTH));
    out.text(value);
  }

  #number(out: ByteWriter, field: number, value: number): void {
    out.varint(tag(field));
    out.varint(value);
  }

  /** One of a map<string, string>. */
  #entry(out: ByteWriter, field: number, key: string, value: string): void {
    const entry = this.#column;
    this.#text(entry, 1, key);
    this.#text(entry, 2, value);
    this.#packed(out, field);
  }
}

/** A zigzag varint of a 64-bit integer. */
function zigzagBig(out: ByteWriter, value: bigint): void {
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  while (rest > 127n) {
    out.u8(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  out.u8(Number(rest));
}
