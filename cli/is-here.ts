/** Whether an address is a loopback address: traffic to it stays on this machine. */
export function isHere(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}
