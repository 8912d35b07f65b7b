import { limits } from "#lang/limits.ts";
import { sizeOf } from "../types/size.ts";
import type { ListPart, PartBound } from "../ports/list-part.ts";

/** How many more rows than fit are read after others were skipped. */
const SKIPPED_AT_ONCE = 10_000;

/**
 * One page of what a caller may see of a list, read in parts: at most `limit` items, and fewer when they are
 * large, but one at least. `show` returns undefined for rows to skip; they are neither counted
 * nor named by a token, and pages are filled up without them.
 *
 * `last` is the row of the last item, from which the token of the next page is made; undefined when there is
 * nothing more to show.
 */
export async function fillPage<T, U>(
  limit: number,
  read: (after: T | undefined, bound: PartBound) => Promise<ListPart<T>>,
  show: (row: T) => U | undefined,
): Promise<{ items: U[]; last: T | undefined }> {
  const items: U[] = [];
  let left: number = limits.pageBytesMax;
  let looked: T | undefined;
  let last: T | undefined;
  let skipped = 0;
  for (;;) {
    // One more than fits shows whether there is another page. Skipped rows make the next part larger: there may be very many.
    const bound = { limit: limit - items.length + 1 + Math.min(skipped, SKIPPED_AT_ONCE), bytesMax: left };
    const { rows, more } = await read(looked, bound);
    for (const row of rows) {
      looked = row;
      const item = show(row);
      if (item === undefined) {
        skipped++;
        continue;
      }
      const size = sizeOf(item);
      if (items.length === limit || (size > left && items.length > 0)) return { items, last };
      left = Math.max(0, left - size);
      items.push(item);
      last = row;
    }
    if (!more) return { items, last: undefined };
  }
}
