import { inParallel } from "#base/in-parallel.ts";

export interface BulkResult {
  done: readonly string[];
  failed: readonly { id: string; error: unknown }[];
}

/** A browser has six connections to a cleartext server, and the page needs some itself. */
const AT_ONCE = 4;
/** After so many failures in a row the cause is not the run. */
const FAILURES_MAX = 20;

/** Does the same to many runs, a few at a time. What fails is reported and does not stop the others, unless everything fails. */
export async function inBulk(
  ids: readonly string[],
  act: (id: string) => Promise<unknown>,
  onProgress: (done: number) => void,
  signal?: AbortSignal,
): Promise<BulkResult> {
  const done: string[] = [];
  const failed: { id: string; error: unknown }[] = [];
  let row = 0;
  await inParallel(ids, AT_ONCE, async (id) => {
    if (signal?.aborted === true) return;
    if (row >= FAILURES_MAX) {
      failed.push({ id, error: failed.at(-1)!.error });
      return;
    }
    try {
      await act(id);
      done.push(id);
      row = 0;
    } catch (error) {
      failed.push({ id, error });
      row++;
    }
    onProgress(done.length + failed.length);
  });
  return { done, failed };
}
