import { limits } from "#lang/limits.ts";
import type { Run } from "../types/run.ts";
import { sizeOf } from "../types/size.ts";
import type { SearchResult } from "../ports/run-search.ts";
import type { RunStore } from "../ports/run-store.ts";
import { project, rowsWithMetrics, unread, type Projection } from "./columns.ts";

/**
 * As many of the runs that a search finds as fit into one answer, at least one. The token of a shorter page
 * can only be made by the search, so it is called again for fewer; it may then find others.
 */
export async function fittingPage(
  store: RunStore,
  find: (limit: number) => Promise<SearchResult>,
  projection: Projection,
  pageSize: number,
  signal: AbortSignal | undefined,
): Promise<{ found: SearchResult; stored: Run[] }> {
  let found = await find(Math.min(pageSize, rowsWithMetrics(projection)));
  for (;;) {
    const { runs: stored, looked } = await readFitting(store, found.ids, projection, signal);
    if (looked === found.ids.length) return { found, stored };
    const before = found.ids;
    found = await find(looked);
    if (found.ids.every((id, row) => id === before[row])) return { found, stored };
  }
}

/**
 * A request may want a part of a run that is only read as a whole, such as one of many params: so reads
 * have a limit of their own, which is larger than that of the answer.
 */
async function readFitting(
  store: RunStore,
  ids: readonly string[],
  projection: Projection,
  signal: AbortSignal | undefined,
): Promise<{ runs: Run[]; looked: number }> {
  const options = { ...unread(projection), bytesMax: limits.pageBytesMax };
  let part = await store.getRuns(ids, options);
  // Nearly always the whole runs fit, and so does any part of them.
  if (part.looked === ids.length) return part;
  const runs: Run[] = [];
  let looked = 0;
  let left: number = limits.pageBytesMax;
  for (let read = 0; ; part = await store.getRuns(ids.slice(looked), options)) {
    signal?.throwIfAborted();
    for (const run of part.runs) {
      const wanted = project(run, projection);
      left -= sizeOf(wanted);
      if (left < 0 && runs.length > 0) return { runs, looked: ids.indexOf(run.id) };
      runs.push(wanted);
    }
    looked += part.looked;
    read += options.bytesMax;
    if (looked === ids.length || read >= limits.searchReadBytesMax) return { runs, looked };
  }
}
