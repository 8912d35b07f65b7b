/** Values by name from /metrics; of metrics with labels the first. */
export function parseMetrics(text: string): Map<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split("\n")) {
    const found = /^([a-zA-Z_:][\w:]*)(?:\{.*\})? (\S+)/.exec(line);
    if (found === null || values.has(found[1]!)) continue;
    const value = Number(found[2]);
    if (!Number.isNaN(value)) values.set(found[1]!, value);
  }
  return values;
}

export interface Sample {
  atMs: number;
  points: number;
}

/** Points per second between two samples; undefined before the second, and when the server was restarted between them. */
export function rateBetween(before: Sample | undefined, now: Sample): number | undefined {
  if (before === undefined || now.atMs <= before.atMs || now.points < before.points) return undefined;
  return ((now.points - before.points) * 1_000) / (now.atMs - before.atMs);
}
