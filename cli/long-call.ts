/**
 * For calls that read or copy everything. The longest that Node's fetch waits for an answer is 300 s, so a longer wait
 * is not possible; the server may finish the work even after the client has given up.
 */
export const LONG_CALL = { timeoutMs: 295_000 } as const;
