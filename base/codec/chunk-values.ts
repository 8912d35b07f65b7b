import { decodeBools, encodeBools } from "./bool-values.ts";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { decodeInt64s, encodeInt64s } from "./integer-values.ts";
import type { Kind } from "./kind.ts";
import { decodeNumbers, encodeNumbers } from "./number-values.ts";
import type { PlaneWriter } from "./planes.ts";
import type { Values } from "./points.ts";
import { decodeTexts, encodeTexts } from "./text-values.ts";

/** Writes at least one value. `planes` is empty before and after. */
export function encodeValues(planes: PlaneWriter, writer: ByteWriter, values: Values): void {
  switch (values.kind) {
    case "number":
      encodeNumbers(planes, values.data);
      planes.flush(writer);
      break;
    case "integer":
      encodeInt64s(planes, values.data);
      planes.flush(writer);
      break;
    case "bool":
      encodeBools(writer, values.data);
      break;
    case "text":
      encodeTexts(planes, writer, values.data);
      break;
  }
}

/** Reads `count` > 0 values and everything that is left in the reader. */
/** Numbers go into what `column` gives for them; the rest is new. */
export function decodeValues(
  reader: ByteReader,
  kind: Kind,
  count: number,
  column: (count: number) => Float64Array,
): Values {
  switch (kind) {
    case "number":
      return { kind, data: decodeNumbers(reader, count, column(count)) };
    case "integer":
      return { kind, data: decodeInt64s(reader, count) };
    case "bool":
      return { kind, data: decodeBools(reader, count) };
    case "text":
      return { kind, data: decodeTexts(reader, count) };
  }
}

export function noValues(kind: Kind): Values {
  switch (kind) {
    case "number":
      return { kind, data: new Float64Array(0) };
    case "integer":
      return { kind, data: new BigInt64Array(0) };
    case "bool":
      return { kind, data: new Uint8Array(0) };
    case "text":
      return { kind, data: [] };
  }
}
