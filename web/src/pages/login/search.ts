export interface LoginSearch {
  /** Where to go afterwards: an address of this server. */
  next?: string;
}

/** Accepts no address of another server, in any spelling: a link to the sign-in must not redirect elsewhere. */
export function readLoginSearch(given: Record<string, unknown>): LoginSearch {
  const { next } = given;
  if (typeof next !== "string" || !/^\/(?![/\\])/.test(next) || next.startsWith("/login")) return {};
  // Browsers remove tabs and line ends, so that "/\t/evil.example" is another server.
  if (/[\u0000-\u001f\\]/.test(next)) return {};
  return { next };
}
