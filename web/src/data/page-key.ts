/** The header with the key of the page, in requests and answers. */
export const PAGE_HEADER = "x-cairn-page";

const NAME = "cairn.page-key";

/**
 * The key that this page sends with the session's cookie, because a browser sends the cookie to every port of the host. Storage belongs to the port, so that no other port has both.
 * A worker has no storage: its tabs send it the key. In a browser without storage the key is lost with the page, and the user signs in again.
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
    // Kept as long as this page is open.
  }
}

export function pageHeaders(): Record<string, string> {
  const key = pageKey();
  return key === "" ? {} : { [PAGE_HEADER]: key };
}
