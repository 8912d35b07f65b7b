import type { PlainBlock } from "../cells/cell-block.ts";
import type { Cells, FrozenBlocks } from "../cells/cells.ts";

/** How many blocks, texts and rows one record has at most: what takes a few milliseconds to write. */
const RECORD_BLOCKS = 8;
const RECORD_ITEMS = 16_384;

type Blocks = (readonly [number: number, block: PlainBlock])[];

/** Reads what the generator of the same name wrote. */
export type Next = () => unknown;

export function* blockRecords(blocks: FrozenBlocks): Generator<Blocks | number> {
  yield blocks.length;
  for (let at = 0; at < blocks.length; at += RECORD_BLOCKS) {
    const some = blocks.slice(at, at + RECORD_BLOCKS);
    yield some.map(([number, block]) => [number, block.plain()] as const);
    // It has been written: later changes need no copy.
    for (const [, block] of some) block.isFrozen = false;
  }
}

export function readBlocks(cells: Cells, next: Next): void {
  const count = next() as number;
  for (let at = 0; at < count; at += RECORD_BLOCKS) cells.restore(next() as Blocks);
}

export function* listRecords<T>(items: readonly T[], count = items.length): Generator<readonly T[] | number> {
  yield count;
  for (let at = 0; at < count; at += RECORD_ITEMS) yield items.slice(at, Math.min(count, at + RECORD_ITEMS));
}

export function readList<T>(next: Next): T[] {
  const count = next() as number;
  const items: T[] = [];
  for (let at = 0; at < count; at += RECORD_ITEMS) for (const item of next() as T[]) items.push(item);
  return items;
}
