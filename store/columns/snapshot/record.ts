/**
 * One record of a snapshot: any plain value. Its typed arrays follow it unencoded, so that they are read into memory
 * of their own, without a copy in between. docs/formats/run-index.md
 */
import { DefaultDeserializer, DefaultSerializer } from "node:v8";
import { crc32 } from "node:zlib";

const RECORD_HEAD_BYTES = 12;
const ARRAY_HEAD_BYTES = 5;

const KINDS = [Uint16Array, Uint32Array, Float64Array] as const;
export type ColumnKind = (typeof KINDS)[number];
export type Column = InstanceType<ColumnKind>;

class RecordSerializer extends DefaultSerializer {
  readonly columns: Column[] = [];

  _writeHostObject(column: Column): void {
    this.writeUint32(this.columns.push(column) - 1);
  }
}

class RecordDeserializer extends DefaultDeserializer {
  readonly #columns: readonly Column[];

  constructor(content: Buffer, columns: readonly Column[]) {
    super(content);
    this.#columns = columns;
  }

  _readHostObject(): Column {
    return this.#columns[this.readUint32()]!;
  }
}

export function packRecord(record: unknown): Buffer {
  const serializer = new RecordSerializer();
  serializer.writeHeader();
  serializer.writeValue(record);
  const content = serializer.releaseBuffer();
  const { columns } = serializer;
  const list = Buffer.alloc(columns.length * ARRAY_HEAD_BYTES);
  const pieces: Uint8Array[] = [list, content];
  for (const [at, column] of columns.entries()) {
    list.writeUInt8(
      KINDS.findIndex((kind) => column instanceof kind),
      at * ARRAY_HEAD_BYTES,
    );
    list.writeUInt32LE(column.length, at * ARRAY_HEAD_BYTES + 1);
    pieces.push(new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
  }
  const head = Buffer.alloc(RECORD_HEAD_BYTES);
  head.writeUInt32LE(columns.length, 0);
  head.writeUInt32LE(content.length, 4);
  head.writeUInt32LE(checksum(pieces), 8);
  return Buffer.concat([head, ...pieces]);
}

/** The source of records. Both throw when there is less left, before they allocate. */
export interface RecordSource {
  read(size: number): Buffer;
  readColumn(kind: ColumnKind, length: number): Column;
}

/** Throws when the checksum is wrong. */
export function unpackRecord(source: RecordSource): unknown {
  const head = source.read(RECORD_HEAD_BYTES);
  const count = head.readUInt32LE(0);
  const list = source.read(count * ARRAY_HEAD_BYTES);
  const content = source.read(head.readUInt32LE(4));
  const columns: Column[] = [];
  for (let at = 0; at < count; at++) {
    const kind = KINDS[list.readUInt8(at * ARRAY_HEAD_BYTES)];
    if (kind === undefined) throw new Error("unknown array kind");
    columns.push(source.readColumn(kind, list.readUInt32LE(at * ARRAY_HEAD_BYTES + 1)));
  }
  const bytes = columns.map((column) => new Uint8Array(column.buffer));
  if (checksum([list, content, ...bytes]) !== head.readUInt32LE(8)) throw new Error("a checksum is wrong");
  const deserializer = new RecordDeserializer(content, columns);
  deserializer.readHeader();
  return deserializer.readValue();
}

function checksum(pieces: readonly Uint8Array[]): number {
  let sum = 0;
  for (const piece of pieces) sum = crc32(piece, sum);
  return sum;
}
