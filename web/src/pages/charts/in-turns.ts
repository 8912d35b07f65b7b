/** Calls for every item, so many at once; answers in the order of the items. The first failure ends it. */
export async function inTurns<T, R>(
  items: readonly T[],
  atOnce: number,
  call: (item: T) => Promise<R>,
): Promise<R[]> {
  const answers = Array.from<R>({ length: items.length });
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      answers[index] = await call(items[index]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane));
  return answers;
}
