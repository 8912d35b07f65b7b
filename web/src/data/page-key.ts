/** The header that the key of the page comes and goes in. */
export const PAGE_HEADER = "x-cairn-page";

const NAME = "cairn.page-key";

/**
 * What this page shows besides the session's cookie, which a browser sends to every port of the host. Storage is bound to the port, so that no other has both.
 * A worker has no storage: its tabs tell it. Where a browser keeps none, the key is gone with the page, and one signs in again.
 */
let held = "";

export function pageKey(): string {
  try {
    // Another tab may have signed in meanwhile.
    return globalThis.localStorage?.getItem(NAME) ?? held;
  } catch {
    return held;
  }
}

/** "" forgets it. */
export function keepPageKey(key: string): void {
  held = key;
  try {
    if (key === "") globalThis.localStorage?.removeItem(NAME);
    else globalThis.localStorage?.setItem(NAME, key);
  } catch {
    // Held for as long as this page is open.
  }
}

export function pageHeaders(): Record<string, string> {
  const key = pageKey();
  return key === "" ? {} : { [PAGE_HEADER]: key };
}
