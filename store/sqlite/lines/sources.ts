import { ByteReader } from "#base/codec/byte-reader.ts";
import { ByteWriter } from "#base/codec/byte-writer.ts";
import { CodecError } from "#base/codec/error.ts";
import type { LogSource } from "#core/types/log.ts";

const SCHEDULER = 1;
const HAS_RANK = 2;
const UNTIMED = 4;

/** So many sources are listed beside a piece; with more it says nothing about them. */
const LISTED_SOURCES_MAX = 64;

/** A source in a block. Lines of one that is not timed have the time of their arrival. */
export interface BlockSource extends LogSource {
  timed: boolean;
}

/** The sources without whether they are timed, each once; empty when there are too many to list. */
export function encodeSources(sources: readonly BlockSource[]): Uint8Array<ArrayBuffer> {
  const distinct = new Map(sources.map((source) => [sourceKey(source), source]));
  const out = new ByteWriter(64);
  if (distinct.size <= LISTED_SOURCES_MAX) writeSources(out, [...distinct.values()], false);
  return out.finish();
}

export function sourceKey({ origin, rank, stream }: LogSource): string {
  return `${origin} ${rank ?? ""} ${stream}`;
}

/** undefined when they are not listed. */
export function decodeSources(bytes: Uint8Array): LogSource[] | undefined {
  if (bytes.length === 0) return undefined;
  const reader = new ByteReader(bytes);
  return readSources(reader, false).map(({ origin, stream, rank }) => ({ origin, stream, rank }));
}

export function writeSources(out: ByteWriter, sources: readonly BlockSource[], withTimed: boolean): void {
  out.varint(sources.length);
  for (const { origin, stream, rank, timed } of sources) {
    out.u8(
      (origin === "scheduler" ? SCHEDULER : 0) |
        (rank === undefined ? 0 : HAS_RANK) |
        (withTimed && !timed ? UNTIMED : 0),
    );
    if (rank !== undefined) out.zigzag(rank);
    out.text(stream);
  }
}

export function readSources(reader: ByteReader, withTimed: boolean): BlockSource[] {
  const count = reader.varint();
  if (count > reader.remaining) throw new CodecError("cannot read sources: more than there are bytes for");
  const sources: BlockSource[] = [];
  for (let i = 0; i < count; i++) {
    const bits = reader.u8();
    if (bits > (withTimed ? 7 : 3)) throw new CodecError(`cannot read sources: unknown bits ${bits}`);
    sources.push({
      origin: (bits & SCHEDULER) === 0 ? "process" : "scheduler",
      rank: (bits & HAS_RANK) === 0 ? undefined : reader.zigzag(),
      stream: reader.text(),
      timed: (bits & UNTIMED) === 0,
    });
  }
  return sources;
}
