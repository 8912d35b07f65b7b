import { copyDoubles, takeDoubles } from "#base/codec/slab.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { uneven } from "#core/ingest/check-envelope.ts";
import { limits } from "#lang/limits.ts";
import { requireAtMost, requireLabels } from "#core/types/check.ts";
import type { Labels, Points, SeriesKind, SeriesPoints, Values } from "#core/types/series.ts";
import { FIXED64, LENGTH, malformed, ProtobufReader, VARINT } from "./protobuf-reader.ts";

/** How many bounds a column keeps for the next series. */
const BOUNDS_KEPT = 64;

/** Where a column lies in the message: mostly one packed piece, but a client may send any number. */
class Pieces {
  /** Start and end of each. Longer than `length` after a series with more pieces: filling it again allocates nothing. */
  bounds: number[] = [];
  /** Of bounds. */
  length = 0;

  add(start: number, end: number): void {
    this.bounds[this.length] = start;
    this.bounds[this.length + 1] = end;
    this.length += 2;
  }

  clear(): void {
    if (this.length > BOUNDS_KEPT) this.bounds = [];
    this.length = 0;
  }
}

/** Columns of the series being decoded; kept between calls, since one envelope has many series. */
const found = {
  steps: new Pieces(),
  times: new Pieces(),
  values: new Pieces(),
  integers: new Pieces(),
  bools: new Pieces(),
  nanos: new Pieces(),
  /** Points that this envelope may still hold. */
  pointsLeft: 0,
};

/** Decodes cairn.v1.SeriesPoints. More than `pointsLeft` are refused before there is an array for them. */
export function decodeSeries(reader: ProtobufReader, pointsLeft: number): SeriesPoints {
  found.pointsLeft = pointsLeft;
  const { steps, times, values, integers, bools, nanos } = found;
  steps.clear();
  times.clear();
  values.clear();
  integers.clear();
  bools.clear();
  nanos.clear();
  let key = "";
  let kind = 0;
  let labels: Map<string, string> | undefined;
  let texts: string[] | undefined;
  while (reader.more) {
    const tag = reader.tag();
    switch (tag >>> 3) {
      case 1:
        expect(tag, LENGTH);
        key = reader.text("metric key");
        break;
      case 2: {
        expect(tag, LENGTH);
        const [name, value] = decodeEntry(reader.message(), "label");
        (labels ??= new Map()).set(name, value);
        if (labels.size > limits.labelsMax) requireLabels([...labels], key);
        break;
      }
      case 3:
        expect(tag, VARINT);
        kind = reader.uint32();
        break;
      case 4:
        notePiece(reader, tag, steps, VARINT);
        break;
      case 5:
        notePiece(reader, tag, times, VARINT);
        break;
      case 6:
        notePiece(reader, tag, values, FIXED64);
        break;
      case 7:
        notePiece(reader, tag, integers, VARINT);
        break;
      case 8:
        notePiece(reader, tag, bools, VARINT);
        break;
      case 9:
        expect(tag, LENGTH);
        (texts ??= []).push(reader.text("a text value"));
        requireCount(texts.length);
        break;
      case 10:
        notePiece(reader, tag, nanos, VARINT);
        break;
      default:
        reader.skip(tag);
    }
  }
  const { bytes } = reader;
  const data = valuesOf(bytes, key, kind, texts ?? []);
  const points: Points = {
    count: data.data.length,
    steps: integerColumn(bytes, steps, "step", key, data.data.length),
    times: integerColumn(bytes, times, "time", key, data.data.length),
    nanos: nanoColumn(bytes, nanos, key, data.data.length),
    values: data,
  };
  return { key, labels: labels === undefined ? NO_LABELS : requireLabels([...labels], key), points };
}

const NO_LABELS: Labels = [];

/** One entry of a map<string, string>. */
export function decodeEntry(reader: ProtobufReader, what: string): [key: string, value: string] {
  let key = "";
  let value = "";
  while (reader.more) {
    const tag = reader.tag();
    if (tag === ((1 << 3) | LENGTH)) key = reader.text(`${what} name`);
    else if (tag === ((2 << 3) | LENGTH)) value = reader.text(`${what} ${quote(key)}`);
    else reader.skip(tag);
  }
  return [key, value];
}

export function expect(tag: number, wireType: number): void {
  if ((tag & 7) !== wireType) throw malformed(`field ${tag >>> 3} with wire type ${tag & 7}`);
}

function notePiece(reader: ProtobufReader, tag: number, pieces: Pieces, wireType: number): void {
  if ((tag & 7) === LENGTH) {
    const end = reader.span();
    if (wireType === FIXED64 && (end - reader.position) % 8 !== 0) {
      throw malformed("doubles of a length that is not a multiple of 8");
    }
    // An empty piece counts as none.
    if (end > reader.position) pieces.add(reader.position, end);
    reader.position = end;
    requireCount(pieces.length / 2);
    return;
  }
  expect(tag, wireType);
  const start = reader.position;
  reader.skip(tag);
  pieces.add(start, reader.position);
  requireCount(pieces.length / 2);
}

function valuesOf(bytes: Buffer, key: string, kind: number, texts: string[]): Values {
  const { values, integers, bools } = found;
  switch (kind) {
    case 0:
    case 1:
      requireOnly(key, "number", values, texts);
      return { kind: "number", data: doubleColumn(bytes, values) };
    case 2:
      requireOnly(key, "integer", integers, texts);
      return { kind: "integer", data: bigColumn(bytes, integers) };
    case 3:
      requireOnly(key, "bool", bools, texts);
      return { kind: "bool", data: boolColumn(bytes, bools) };
    case 4:
      requireOnly(key, "text", texts, texts);
      return { kind: "text", data: texts };
    default:
      throw new CairnError("invalid", `cannot append series ${quote(key)}: unknown kind ${kind}`);
  }
}

/** No column of values but the one of the kind may be filled. */
function requireOnly(key: string, kind: SeriesKind, own: unknown, texts: string[]): void {
  const { values, integers, bools } = found;
  if (values.length > 0 && values !== own) throw otherColumn(key, kind, "number");
  if (integers.length > 0 && integers !== own) throw otherColumn(key, kind, "integer");
  if (bools.length > 0 && bools !== own) throw otherColumn(key, kind, "bool");
  if (texts.length > 0 && texts !== own) throw otherColumn(key, kind, "text");
}

function otherColumn(key: string, kind: SeriesKind, column: SeriesKind): CairnError {
  return new CairnError(
    "invalid",
    `cannot append series ${quote(key)}: it is of kind ${kind} but carries values of kind ${column}`,
    { reason: "KIND_MISMATCH", hint: "set `kind` to the kind of the values" },
  );
}

function doubleColumn(bytes: Buffer, { bounds, length }: Pieces): Float64Array {
  let size = 0;
  for (let p = 0; p < length; p += 2) size += bounds[p + 1]! - bounds[p]!;
  requireCount(size / 8);
  if (length === 2) return copyDoubles(bytes, bounds[0]!, size / 8);
  const whole = Buffer.allocUnsafe(size);
  let at = 0;
  for (let p = 0; p < length; p += 2) at += bytes.copy(whole, at, bounds[p], bounds[p + 1]);
  return copyDoubles(whole, 0, size / 8);
}

function integerColumn(
  bytes: Buffer,
  pieces: Pieces,
  what: string,
  key: string,
  count: number,
): Float64Array | undefined {
  if (pieces.length === 0) return undefined;
  const size = countVarints(bytes, pieces);
  if (size !== count) throw uneven(key, `${what}s`, size, count);
  const column = takeDoubles(count);
  let at = 0;
  for (let p = 0; p < pieces.length; p += 2) {
    const end = pieces.bounds[p + 1]!;
    let position = pieces.bounds[p]!;
    // Up to four bytes are a step below 2^27; up to eight a time in microseconds. countVarints has made
    // sure that the last varint ends here.
    while (position < end) {
      let byte = bytes[position++]!;
      let low = byte & 127;
      let shift = 7;
      while (byte > 127 && shift < 28) {
        byte = bytes[position++]!;
        low |= (byte & 127) << shift;
        shift += 7;
      }
      if (byte < 128) {
        column[at++] = (low >>> 1) ^ -(low & 1);
        continue;
      }
      byte = bytes[position++]!;
      let high = byte & 127;
      shift = 7;
      while (byte > 127 && shift < 28) {
        byte = bytes[position++]!;
        high |= (byte & 127) << shift;
        shift += 7;
      }
      if (byte > 127) throw unsafe(what, key);
      // 56 bits of zigzag: the lowest is the sign, and the rest must not be rounded.
      const rest = low >>> 1;
      const negative = low & 1;
      if (high >= HIGH_MAX && (high > HIGH_MAX || rest > 0 || negative === 1)) throw unsafe(what, key);
      const magnitude = high * 2 ** 27 + rest;
      column[at++] = negative === 0 ? magnitude : -magnitude - 1;
    }
  }
  return column;
}

/** What is above the low 27 bits of 2^53. */
const HIGH_MAX = 2 ** 26;

function unsafe(what: string, key: string): CairnError {
  return new CairnError(
    "invalid",
    `cannot append series ${quote(key)}: a ${what} is beyond 2^53 in magnitude`,
    { reason: "UNSAFE_INTEGER", hint: "steps are whole numbers, times are microseconds since 1970" },
  );
}

function bigColumn(bytes: Buffer, pieces: Pieces): BigInt64Array {
  const column = new BigInt64Array(countVarints(bytes, pieces));
  let at = 0;
  for (let p = 0; p < pieces.length; p += 2) {
    const reader = new ProtobufReader(bytes, pieces.bounds[p], pieces.bounds[p + 1]);
    while (reader.more) column[at++] = reader.sint64Big();
  }
  return column;
}

function boolColumn(bytes: Buffer, pieces: Pieces): Uint8Array {
  const column = new Uint8Array(countVarints(bytes, pieces));
  let at = 0;
  for (let p = 0; p < pieces.length; p += 2) {
    const reader = new ProtobufReader(bytes, pieces.bounds[p], pieces.bounds[p + 1]);
    while (reader.more) column[at++] = reader.bool() ? 1 : 0;
  }
  return column;
}

function nanoColumn(bytes: Buffer, pieces: Pieces, key: string, count: number): Uint16Array | undefined {
  if (pieces.length === 0) return undefined;
  const size = countVarints(bytes, pieces);
  if (size !== count) throw uneven(key, "nanos", size, count);
  const column = new Uint16Array(count);
  let at = 0;
  let some = false;
  for (let p = 0; p < pieces.length; p += 2) {
    const reader = new ProtobufReader(bytes, pieces.bounds[p], pieces.bounds[p + 1]);
    while (reader.more) {
      // Clamped so that 65,536 cannot wrap to 0; core refuses what is above 999.
      const nano = Math.min(reader.uint32(), 0xffff);
      column[at++] = nano;
      some ||= nano !== 0;
    }
  }
  return some ? column : undefined;
}

/** Every varint ends with the one byte below 128. */
function countVarints(bytes: Buffer, pieces: Pieces): number {
  let count = 0;
  for (let p = 0; p < pieces.length; p += 2) {
    const end = pieces.bounds[p + 1]!;
    for (let i = pieces.bounds[p]!; i < end; i++) if (bytes[i]! < 128) count++;
    if (end > pieces.bounds[p]! && bytes[end - 1]! > 127)
      throw malformed("a number that ends beyond its field");
  }
  requireCount(count);
  return count;
}

/** Before anything of that size is allocated. */
function requireCount(count: number): void {
  if (count <= found.pointsLeft) return;
  const before = limits.envelopePointsMax - found.pointsLeft;
  requireAtMost(before + count, limits.envelopePointsMax, "points in one envelope");
}
