import { ByteWriter } from "#base/codec/byte-writer.ts";
import type { Points } from "#base/codec/points.ts";

/** cairn.v1.Envelope with number series, written by hand: the bench must not spend its time on encoding. */
export function encodeEnvelope(envelope: {
  runId: string;
  writer: string;
  seq: number;
  series: readonly { key: string; points: Points }[];
}): Uint8Array {
  const out = new ByteWriter(1 << 16);
  nested(out, 1, (ref) => text(ref, 1, envelope.runId));
  text(out, 2, envelope.writer);
  out.varint(3 << 3);
  out.varint(envelope.seq);
  for (const { key, points } of envelope.series) {
    nested(out, 4, (series) => {
      text(series, 1, key);
      nested(series, 4, (column) => integers(column, points.steps!));
      nested(series, 5, (column) => integers(column, points.times!));
      nested(series, 6, (column) => column.copy(points.values.data as Float64Array));
    });
  }
  return out.finish();
}

function text(out: ByteWriter, field: number, value: string): void {
  out.varint((field << 3) | 2);
  out.text(value);
}

function nested(out: ByteWriter, field: number, write: (inner: ByteWriter) => void): void {
  const inner = new ByteWriter(1 << 12);
  write(inner);
  out.varint((field << 3) | 2);
  out.varint(inner.length);
  out.copy(inner.bytes.subarray(0, inner.length));
}

function integers(out: ByteWriter, column: Float64Array): void {
  for (const value of column) out.zigzag(value);
}
