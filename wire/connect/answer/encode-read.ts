import { ByteWriter } from "#base/codec/byte-writer.ts";
import type { HostName } from "#core/types/host.ts";
import type { SeriesKind } from "#core/types/series.ts";
import type { ReadSeriesResult, SeriesData } from "#core/ports/point-store.ts";

const KINDS: Readonly<Record<SeriesKind, number>> = { number: 1, integer: 2, bool: 3, text: 4 };
const EXACT = 1;
const BAND = 2;
const LENGTH = 2;
const VARINT = 0;
const FIXED64 = 1;

type TypedColumn = Float64Array | BigInt64Array | Uint16Array | Uint8Array;

/**
 * cairn.v1.ReadSeriesResponse with columns as bytes, as pieces to be sent one after another. The
 * columns themselves are not copied: an answer is megabytes of them, and the generic writer would copy
 * each four times.
 */
export function encodeRead(result: ReadSeriesResult, position: string): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (const series of result.series) {
    const { head, columns } = encodeSeries(series);
    const size = columns.reduce((sum, [before, bytes]) => sum + before.length + bytes.length, head.length);
    scratch.varint((1 << 3) | LENGTH);
    scratch.varint(size);
    scratch.copy(head);
    pieces.push(scratch.finish());
    for (const [before, bytes] of columns) pieces.push(before, bytes);
  }
  if (result.grid !== undefined) {
    double(2, result.grid.start);
    double(3, result.grid.width);
  }
  text(4, position);
  pieces.push(scratch.finish());
  return pieces;
}

/** Everything but the columns, and each column with the bytes that go before it. */
function encodeSeries(series: SeriesData): {
  head: Uint8Array;
  columns: [before: Uint8Array, bytes: Uint8Array][];
} {
  const { data } = series;
  if (series.host === undefined) text(1, series.runId);
  else host(series.host);
  text(2, series.key);
  for (const [name, value] of series.labels) label(name, value);
  integer(4, KINDS[series.kind]);
  integer(5, data.form === "exact" ? EXACT : BAND);
  integer(6, series.pointCount);
  if (data.form === "exact" && data.points.values.kind === "text") {
    for (const value of data.points.values.data) text(11, value);
  }
  const head = scratch.finish();
  const columns: [Uint8Array, Uint8Array][] = [];
  for (const [field, column] of columnsOf(series)) {
    if (column === undefined) continue;
    const bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
    columns.push([columnHead(field, bytes.length), bytes]);
  }
  return { head, columns };
}

function columnsOf({ data }: SeriesData): [field: number, column: TypedColumn | undefined][] {
  if (data.form === "band") {
    const { bucket, count, min, max, first, last, mean, nanCount } = data;
    return [bucket, count, min, max, first, last, mean, nanCount].map((column, i) => [13 + i, column]);
  }
  const { steps, times, nanos, values } = data.points;
  return [
    [7, steps],
    [8, times],
    [9, nanos && Float64Array.from(nanos)],
    [10, values.kind === "text" ? undefined : values.data],
    [12, data.replaced],
  ];
}

const scratch = new ByteWriter(1024);
const inner = new ByteWriter(256);

/** The field with a Column message whose only field is `size` bytes. */
function columnHead(field: number, size: number): Uint8Array {
  inner.varint((1 << 3) | LENGTH);
  inner.varint(size);
  scratch.varint((field << 3) | LENGTH);
  scratch.varint(inner.length + size);
  scratch.copy(inner.finish());
  return scratch.finish();
}

function text(field: number, value: string): void {
  if (value === "" && field !== 11) return;
  scratch.varint((field << 3) | LENGTH);
  scratch.text(value);
}

function label(name: string, value: string): void {
  inner.varint((1 << 3) | LENGTH);
  inner.text(name);
  inner.varint((2 << 3) | LENGTH);
  inner.text(value);
  scratch.varint((3 << 3) | LENGTH);
  scratch.varint(inner.length);
  scratch.copy(inner.finish());
}

function host({ namespace, name }: HostName): void {
  inner.varint((1 << 3) | LENGTH);
  inner.text(namespace);
  inner.varint((2 << 3) | LENGTH);
  inner.text(name);
  scratch.varint((21 << 3) | LENGTH);
  scratch.varint(inner.length);
  scratch.copy(inner.finish());
}

function integer(field: number, value: number): void {
  if (value === 0) return;
  scratch.varint((field << 3) | VARINT);
  scratch.varint(value);
}

function double(field: number, value: number): void {
  scratch.varint((field << 3) | FIXED64);
  scratch.f64(value);
}
