/**
 * What counts as one address: of IPv6 the network of 64 bits that one customer has, and IPv4 also where it
 * is written as IPv6.
 */
export function addressKey(address: string | undefined): string {
  if (address === undefined) return "";
  const plain = address.replace(/%.*$/, "").replace(/^::ffff:(?=\d+\.)/i, "");
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const missing = Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  const network = [...before, ...missing, ...after].slice(0, 4);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

/** Of such a key: the 48 bits of IPv6 or 24 of IPv4 that one holder of many addresses is likely to have. */
export function networkOf(key: string): string {
  const isV6 = key.endsWith("::/64");
  return isV6 ? key.split(":", 3).join(":") : key.slice(0, key.lastIndexOf(".") + 1) || key;
}

function groups(text: string): string[] {
  // An IPv4 address at the end is two groups, both outside the network.
  return text === "" ? [] : text.split(":").flatMap((group) => (group.includes(".") ? ["0", "0"] : [group]));
}
