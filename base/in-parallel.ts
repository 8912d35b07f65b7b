/**
 * Does `work` for every item, at most `width` at once, and gives the results in the order of the items. After the first
 * failure, or once the signal is aborted, no further item is begun; the failure is thrown when those under way have
 * ended, so that no work continues in the background.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T, index: number) => Promise<R>,
  signal?: AbortSignal,
): Promise<R[]> {
  const results = Array.from<R>({ length: items.length });
  const failures: unknown[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length && failures.length === 0) {
      const index = next++;
      try {
        signal?.throwIfAborted();
        results[index] = await work(items[index]!, index);
      } catch (thrown) {
        failures.push(thrown);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return results;
}
