import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { limits } from "#lang/limits.ts";
import { requireAtMost } from "#core/types/check.ts";
import { expect } from "../decode/series.ts";
import { FIXED32, FIXED64, LENGTH, ProtobufReader, VARINT } from "../decode/protobuf-reader.ts";

/**
 * Walks a message in protobuf's wire format by its description without decoding it. Throws `invalid`
 * for malformed ones and `exhausted` for more elements than any real client sends.
 */
export function checkBinary(message: DescMessage, bytes: Uint8Array): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  walk(message, new ProtobufReader(buffer), { objects: 0, values: 0, levels: 0 });
}

interface Seen {
  objects: number;
  values: number;
  levels: number;
}

function walk(message: DescMessage, reader: ProtobufReader, seen: Seen): void {
  requireAtMost(++seen.objects, limits.messageObjectsMax, "objects in one message");
  requireAtMost(++seen.levels, limits.messageNestingMax, "levels in one message");
  const fields = fieldsOf(message);
  while (reader.more) {
    const tag = reader.tag();
    requireAtMost(++seen.values, limits.messageValuesMax, "values in one message");
    const field = fields.get(tag >>> 3);
    if (field === undefined) reader.skip(tag);
    else walkField(field, reader, tag, seen);
  }
  seen.levels--;
}

function walkField(field: DescField, reader: ProtobufReader, tag: number, seen: Seen): void {
  if (field.fieldKind === "map") {
    expect(tag, LENGTH);
    requireAtMost(++seen.objects, limits.messageObjectsMax, "objects in one message");
    walkEntry(field.name, reader.message());
  } else if (field.message !== undefined) {
    expect(tag, LENGTH);
    walk(field.message, reader.message(), seen);
  } else if (field.scalar === ScalarType.STRING) {
    expect(tag, LENGTH);
    reader.text(field.name);
  } else {
    const start = reader.position;
    const packed = field.fieldKind === "list" && field.scalar !== ScalarType.BYTES && (tag & 7) === LENGTH;
    if (!packed) expect(tag, WIRE_TYPES.get(field.scalar ?? ScalarType.INT32) ?? VARINT);
    reader.skip(tag);
    // A packed value takes a byte or more.
    if (packed) seen.values += reader.position - start;
  }
}

/** The maps of requests are all from text to text. */
function walkEntry(name: string, entry: ProtobufReader): void {
  while (entry.more) {
    const tag = entry.tag();
    if (tag === ((1 << 3) | LENGTH)) entry.text(`a key of ${name}`);
    else if (tag === ((2 << 3) | LENGTH)) entry.text(`a value of ${name}`);
    else entry.skip(tag);
  }
}

const WIRE_TYPES: ReadonlyMap<ScalarType, number> = new Map([
  [ScalarType.DOUBLE, FIXED64],
  [ScalarType.FIXED64, FIXED64],
  [ScalarType.SFIXED64, FIXED64],
  [ScalarType.FLOAT, FIXED32],
  [ScalarType.FIXED32, FIXED32],
  [ScalarType.SFIXED32, FIXED32],
  [ScalarType.BYTES, LENGTH],
]);

const known = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

function fieldsOf(message: DescMessage): ReadonlyMap<number, DescField> {
  let fields = known.get(message);
  if (fields === undefined) {
    fields = new Map(message.fields.map((field) => [field.number, field]));
    known.set(message, fields);
  }
  return fields;
}
