export interface LoginSearch {
  /** Where to go afterwards: an address of this server. */
  next?: string;
}

/** Takes no address of another server, however it is written: a link to the sign-in must not lead away. */
export function readLoginSearch(given: Record<string, unknown>): LoginSearch {
  const { next } = given;
  if (typeof next !== "string" || !/^\/(?![/\\])/.test(next) || next.startsWith("/login")) return {};
  // Browsers leave out tabs and line ends, so that "/\t/evil.example" is another server.
  if (/[\u0000-\u001f\\]/.test(next)) return {};
  return { next };
}
