import { limits } from "#lang/limits.ts";
import type { Run } from "../types/run.ts";
import type { HeavyPart, RunStore } from "../ports/run-store.ts";

/** The runs in the order of the ids, a bounded part at a time; without missing ones. */
export async function* readRuns(
  store: RunStore,
  ids: readonly string[],
  omit: readonly HeavyPart[],
  signal?: AbortSignal,
): AsyncGenerator<Run> {
  for (let at = 0; at < ids.length;) {
    signal?.throwIfAborted();
    const part = await store.getRuns(ids.slice(at), { omit, bytesMax: limits.pageBytesMax });
    yield* part.runs;
    at += part.looked;
  }
}
