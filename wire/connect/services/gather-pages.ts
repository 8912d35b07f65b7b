import { limits } from "#lang/limits.ts";
import { sizeOf } from "#core/types/size.ts";

export interface AskedPage {
  pageSize: number;
  pageToken: string;
}

export interface GivenPage<T> {
  items: readonly T[];
  nextPageToken: string;
}

/**
 * One page made of small ones, for lists whose rows may be large: it ends, at a token of core's, as soon as
 * what it holds is too much for one answer.
 */
export async function gatherPages<T>(
  { pageSize, pageToken }: AskedPage,
  rowsAtOnce: number,
  read: (page: AskedPage) => GivenPage<T> | Promise<GivenPage<T>>,
): Promise<GivenPage<T>> {
  // Core refuses an invalid size.
  if (!(pageSize > rowsAtOnce && pageSize <= limits.pageSizeMax)) return read({ pageSize, pageToken });
  const items: T[] = [];
  let nextPageToken = pageToken;
  let left: number = limits.pageBytesMax;
  do {
    const rows = Math.min(rowsAtOnce, pageSize - items.length);
    const page = await read({ pageSize: rows, pageToken: nextPageToken });
    items.push(...page.items);
    ({ nextPageToken } = page);
    left -= sizeOf(page.items);
  } while (nextPageToken !== "" && items.length < pageSize && left > 0);
  return { items, nextPageToken };
}
