/** System metrics, which clients record automatically. */
export function isSystemMetric(key: string): boolean {
  return key.startsWith("system/");
}

/** A series as people write it: its key, and its labels in braces where it has some. */
export function seriesName(key: string, labels: Iterable<readonly [name: string, value: string]>): string {
  const pairs = Array.from(labels, ([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? key : `${key}{${pairs.sort().join(",")}}`;
}
