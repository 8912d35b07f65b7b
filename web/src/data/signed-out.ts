const listeners = new Set<() => void>();

/** Called when the server wants to know who asks. Returns how to stop that. */
export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function tellSignedOut(): void {
  for (const listener of listeners) listener();
}
