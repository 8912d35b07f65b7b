import type { SeriesInfo } from "#proto/cairn/v1/metric_pb.ts";

const SYSTEM = "system/";

export function isSystemKey(key: string): boolean {
  return key.startsWith(SYSTEM);
}

/** The objective first, system metrics last, otherwise by key; only those that contain all words of the search. */
export function orderMetrics(
  series: readonly SeriesInfo[],
  objective: string | undefined,
  find: string,
): SeriesInfo[] {
  const words = find
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const place = ({ key }: SeriesInfo) => (key === objective ? 0 : isSystemKey(key) ? 2 : 1);
  const chosen = words.length === 0 ? [...series] : series.filter((info) => holdsAll(info, words));
  return chosen.sort((a, b) => place(a) - place(b) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function holdsAll({ key, labels }: SeriesInfo, words: readonly string[]): boolean {
  const text = `${key} ${Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ")}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
