let isKnown = document.documentElement.dataset["signedOut"] !== undefined;
const listeners = new Set<() => void>();

/** Called when the server wants to know who asks. Returns how to stop that. */
export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function tellSignedOut(): void {
  for (const listener of listeners) listener();
}

/** True when the server said with the page itself that nobody is signed in: then there is nothing to ask for. */
export function isSignedOut(): boolean {
  return isKnown;
}

export function noteSession(isThere: boolean): void {
  isKnown = !isThere;
}
