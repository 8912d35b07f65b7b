/**
 * For calls that read or copy everything. The longest that Node's fetch waits for an answer is 300 s, so no more
 * can be promised; the server may finish what was asked even when nobody waits any longer.
 */
export const LONG_CALL = { timeoutMs: 295_000 } as const;
