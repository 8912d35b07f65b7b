/** Whether an address is of this machine alone: what is sent there does not travel. */
export function isHere(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}
