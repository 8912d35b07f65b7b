/**
 * How a call loads an answer that turned out to be large: resolves when there is room for about so many bytes, with
 * a signal that ends the load when the caller disconnects. Throws `exhausted` (QUOTA) and `unavailable` (OVERLOADED)
 * when there is none, and the signal's reason when the caller disconnected while it waited.
 */
export type BeginHeavy = (bytes: number) => Promise<AbortSignal | undefined>;

/** For callers inside the server, which ask for one thing at a time. */
export const AT_ONCE: BeginHeavy = () => Promise.resolve(undefined);
