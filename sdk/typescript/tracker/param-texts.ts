import { metadataEntries, type Metadata, type MetadataValue } from "./api.ts";
import { readMetadata, writeMetadata } from "./metadata-json.ts";

/** Values as the server keeps params and metadata: JSON text per key. */
export interface ParamTexts {
  texts: Record<string, string>;
  /** Keys whose value is not JSON and became a text, with its type. */
  textOf: Map<string, string>;
}

export function paramTexts(metadata: Metadata): ParamTexts {
  const texts: Record<string, string> = {};
  const textOf = new Map<string, string>();
  for (const [key, value] of metadataEntries(metadata)) {
    const written = writeMetadata(value);
    // A plain assignment of __proto__ would set the prototype.
    Object.defineProperty(texts, key, {
      value: written.json,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    if (written.textOf !== undefined) textOf.set(key, written.textOf);
  }
  return { texts, textOf };
}

export function paramValues(texts: Readonly<Record<string, string>>): Map<string, MetadataValue> {
  return new Map(Object.entries(texts).map(([key, json]) => [key, readMetadata(json)]));
}
