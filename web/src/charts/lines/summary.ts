import type { Line } from "./line.ts";
import { countOf, formatCount, formatNumber } from "#lang/words/numbers.ts";

/** One row per line, for screen readers and for users who need figures. */
export interface LineFacts {
  readonly line: Line;
  readonly first: string;
  readonly last: string;
  readonly min: string;
  readonly max: string;
}

export function factsOf(line: Line): LineFacts {
  const { y, low = y, high = y, words } = line;
  const text = (index: number): string => {
    if (index < 0) return "–";
    return words === undefined
      ? formatNumber(y[index]!, { digits: 5, even: true })
      : (words[y[index]!] ?? "");
  };
  let min = Infinity;
  let max = -Infinity;
  for (let i = 0; i < y.length; i++) {
    if (low[i]! < min) min = low[i]!;
    if (high[i]! > max) max = high[i]!;
  }
  const numbers = words === undefined && min <= max;
  return {
    line,
    first: text(y.length === 0 ? -1 : 0),
    last: text(y.length - 1),
    min: numbers ? formatNumber(min, { digits: 5, even: true }) : "–",
    max: numbers ? formatNumber(max, { digits: 5, even: true }) : "–",
  };
}

/**
 * "exact", "band of 412,000 points", and the points that are not shown. `xName` is the metric along x, if there is one.
 */
export function badgeOf(lines: readonly Line[], xName?: string): { text: string; detail: string } {
  const points = lines.reduce((sum, line) => sum + line.pointCount, 0);
  const unplaced = lines.reduce((sum, line) => sum + line.unplacedCount, 0);
  const exact = lines.every((line) => line.exact);
  const count = formatCount(points);
  const text = exact ? "exact" : `band of ${count}`;
  const detail = exact
    ? `All ${count} points are drawn as they were logged.`
    : `Minimum, maximum and mean of all ${count} points: no spike is lost. Zoom in to see single points.`;
  const lost = formatCount(unplaced);
  if (xName === undefined) {
    return { text, detail: detail + (unplaced > 0 ? ` ${lost} cannot be shown on this axis.` : "") };
  }
  const joined = exact
    ? `Each point is at the value of ${xName} at the same step.`
    : `Too many points to join one by one: mean, smallest and largest of buckets of steps, at the mean of ${xName} there.`;
  return {
    text: unplaced > 0 ? `${text}, ${lost} unmatched` : text,
    detail: unplaced > 0 ? `${joined} ${lost} points have no ${xName} at their step.` : joined,
  };
}

/** The chart in a sentence. */
export function sentenceOf(title: string, lines: readonly Line[], axis: string): string {
  if (lines.length === 0) return `${title}: nothing to draw`;
  const named = lines.slice(0, 3).map((line) => `${line.name} last ${lastOf(line)}`);
  const rest = lines.length > 3 ? `, and ${lines.length - 3} more` : "";
  return `${title} by ${axis}, ${countOf(lines.length, "line")}: ${named.join(", ")}${rest}`;
}

function lastOf({ y, words }: Line): string {
  const last = y.at(-1);
  if (last === undefined) return "–";
  return words === undefined ? formatNumber(last, { digits: 5 }) : (words[last] ?? "");
}
