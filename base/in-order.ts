/**
 * What all of them give, in their order. Throws what the first in that order threw, and not, as `Promise.all`, what came first
 * in time: the timing of refusals may disclose something that the caller must not know.
 */
export async function inOrder<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}
