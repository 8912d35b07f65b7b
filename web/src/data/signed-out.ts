let isKnown = document.documentElement.dataset["signedOut"] !== undefined;
const listeners = new Set<() => void>();

/** Calls the listener when the server requires a sign-in. Returns a function that unsubscribes. */
export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function notifySignedOut(): void {
  for (const listener of listeners) listener();
}

/** True if the server sent the page with a note that no user is signed in: then no call is needed. */
export function isSignedOut(): boolean {
  return isKnown;
}

export function noteSession(isThere: boolean): void {
  isKnown = !isThere;
}
