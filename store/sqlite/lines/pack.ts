import { crc32 } from "node:zlib";
import type { LogLines } from "#core/types/log.ts";
import { LineBlockWriter, weightOf, type WrittenBlock } from "./block-writer.ts";

/** How much a piece holds, about; see `weightOf`. */
export const PIECE_WEIGHT_MAX = 256 << 10;

/** Lines of an envelope on their way to the storage thread. */
export interface PackedLines extends WrittenBlock {
  crc: number;
}

const writer = new LineBlockWriter();

/** The lines of an envelope as pieces that are not too large to be merged in a few milliseconds. */
export function packLines(log: readonly LogLines[]): PackedLines[] {
  const pieces: PackedLines[] = [];
  const finish = () => {
    const block = writer.writePlain();
    pieces.push({ ...block, crc: crc32(block.body) });
  };
  // What an envelope that was refused has left.
  writer.reset();
  for (const { origin, stream, rank, times, lengths, text } of log) {
    const source = { origin, stream, rank };
    let at = 0;
    for (let from = 0; from < lengths.length;) {
      // As many lines as the piece has room for, but one at least.
      let to = from;
      let size = 0;
      const room = PIECE_WEIGHT_MAX - writer.weight;
      while (to < lengths.length && weightOf(size + lengths[to]!, to - from + 1) <= room)
        size += lengths[to++]!;
      if (to === from && writer.count > 0) {
        finish();
        continue;
      }
      if (to === from) size = lengths[to++]!;
      writer.add({
        source,
        times: times?.subarray(from, to),
        lengths: lengths.subarray(from, to),
        text: text.subarray(at, at + size),
      });
      at += size;
      from = to;
    }
  }
  if (writer.count > 0) finish();
  return pieces;
}
