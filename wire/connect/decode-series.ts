import { CairnError, quote } from "#core/errors.ts";
import { limits } from "#core/limits.ts";
import { requireLabels } from "#core/model/check.ts";
import type { Points, SeriesKind, SeriesPoints, Values } from "#core/model/series.ts";
import { FIXED64, LENGTH, malformed, ProtobufReader, VARINT } from "./protobuf-reader.ts";

const KINDS: readonly SeriesKind[] = ["number", "number", "integer", "bool", "text"];

/** Where a column lies in the message: mostly one packed piece, but a client may send any number. */
type Pieces = number[];

/** Decodes cairn.v1.SeriesPoints. */
export function decodeSeries(reader: ProtobufReader): SeriesPoints {
  let key = "";
  let kind = 0;
  const labels = new Map<string, string>();
  const steps: Pieces = [];
  const times: Pieces = [];
  const values: Pieces = [];
  const integers: Pieces = [];
  const bools: Pieces = [];
  const nanos: Pieces = [];
  const texts: string[] = [];
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
        labels.set(name, value);
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
        texts.push(reader.text(`a value of series ${quote(key)}`));
        break;
      case 10:
        notePiece(reader, tag, nanos, VARINT);
        break;
      default:
        reader.skip(tag);
    }
  }
  const { bytes } = reader;
  const data = valuesOf(bytes, key, kind, { values, integers, bools, texts });
  const points: Points = {
    count: data.data.length,
    steps: integerColumn(bytes, steps, `a step of series ${quote(key)}`),
    times: integerColumn(bytes, times, `a time of series ${quote(key)}`),
    nanos: nanoColumn(bytes, nanos),
    values: data,
  };
  return { key, labels: requireLabels([...labels], key), points };
}

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
    pieces.push(reader.position, end);
    reader.position = end;
    return;
  }
  expect(tag, wireType);
  const start = reader.position;
  reader.skip(tag);
  pieces.push(start, reader.position);
}

interface ValuePieces {
  values: Pieces;
  integers: Pieces;
  bools: Pieces;
  texts: string[];
}

function valuesOf(bytes: Buffer, key: string, kind: number, pieces: ValuePieces): Values {
  const name = KINDS[kind];
  if (name === undefined) {
    throw new CairnError("invalid", `cannot append series ${quote(key)}: unknown kind ${kind}`);
  }
  const filled = [
    ["number", pieces.values],
    ["integer", pieces.integers],
    ["bool", pieces.bools],
    ["text", pieces.texts],
  ] as const;
  for (const [column, found] of filled) {
    if (column === name || found.length === 0) continue;
    throw new CairnError(
      "invalid",
      `cannot append series ${quote(key)}: it is of kind ${name} but carries values of kind ${column}`,
      { reason: "KIND_MISMATCH", hint: "set `kind` to the kind of the values" },
    );
  }
  switch (name) {
    case "number":
      return { kind: name, data: doubleColumn(bytes, pieces.values) };
    case "integer":
      return { kind: name, data: bigColumn(bytes, pieces.integers) };
    case "bool":
      return { kind: name, data: boolColumn(bytes, pieces.bools) };
    case "text":
      return { kind: name, data: pieces.texts };
  }
}

function doubleColumn(bytes: Buffer, pieces: Pieces): Float64Array {
  let size = 0;
  for (let p = 0; p < pieces.length; p += 2) size += pieces[p + 1]! - pieces[p]!;
  if (size % 8 !== 0) throw malformed("doubles of a length that is not a multiple of 8");
  requireCount(size / 8);
  const column = new Float64Array(size / 8);
  const target = new Uint8Array(column.buffer);
  let at = 0;
  for (let p = 0; p < pieces.length; p += 2) {
    bytes.copy(target, at, pieces[p], pieces[p + 1]);
    at += pieces[p + 1]! - pieces[p]!;
  }
  return column;
}

function integerColumn(bytes: Buffer, pieces: Pieces, what: string): Float64Array | undefined {
  if (pieces.length === 0) return undefined;
  const column = new Float64Array(countVarints(bytes, pieces));
  let at = 0;
  for (let p = 0; p < pieces.length; p += 2) {
    const end = pieces[p + 1]!;
    let position = pieces[p]!;
    while (position < end) {
      // Four bytes hold every step below 2^27: the common case stays in this loop.
      let low = 0;
      let shift = 0;
      let byte = 128;
      while (shift < 28 && position < end) {
        byte = bytes[position++]!;
        low |= (byte & 127) << shift;
        shift += 7;
        if (byte < 128) break;
      }
      if (byte < 128) {
        column[at++] = (low >>> 1) ^ -(low & 1);
        continue;
      }
      position -= shift / 7;
      const reader = new ProtobufReader(bytes, position, end);
      column[at++] = reader.sint64(what);
      position = reader.position;
    }
  }
  return column;
}

function bigColumn(bytes: Buffer, pieces: Pieces): BigInt64Array {
  const column = new BigInt64Array(countVarints(bytes, pieces));
  let at = 0;
  for (let p = 0; p < pieces.length; p += 2) {
    const reader = new ProtobufReader(bytes, pieces[p]!, pieces[p + 1]!);
    while (reader.more) column[at++] = reader.sint64Big();
  }
  return column;
}

function boolColumn(bytes: Buffer, pieces: Pieces): Uint8Array {
  const column = new Uint8Array(countVarints(bytes, pieces));
  let at = 0;
  for (let p = 0; p < pieces.length; p += 2) {
    const reader = new ProtobufReader(bytes, pieces[p]!, pieces[p + 1]!);
    while (reader.more) column[at++] = reader.bool() ? 1 : 0;
  }
  return column;
}

function nanoColumn(bytes: Buffer, pieces: Pieces): Uint16Array | undefined {
  if (pieces.length === 0) return undefined;
  const column = new Uint16Array(countVarints(bytes, pieces));
  let at = 0;
  let some = false;
  for (let p = 0; p < pieces.length; p += 2) {
    const reader = new ProtobufReader(bytes, pieces[p]!, pieces[p + 1]!);
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
    const end = pieces[p + 1]!;
    for (let i = pieces[p]!; i < end; i++) if (bytes[i]! < 128) count++;
    if (end > pieces[p]! && bytes[end - 1]! > 127) throw malformed("a number that ends beyond its field");
  }
  requireCount(count);
  return count;
}

/** Before anything of that size is allocated. */
function requireCount(count: number): void {
  if (count <= limits.envelopePointsMax) return;
  throw new CairnError(
    "exhausted",
    `cannot accept points in one envelope: ${count} are more than ${limits.envelopePointsMax}`,
    { reason: "LIMIT_EXCEEDED", facts: { limit: String(limits.envelopePointsMax) } },
  );
}
