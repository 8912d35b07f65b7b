import type { Line } from "../../../charts/lines/line.ts";
import { colourAt, dashAt } from "../../../charts/paint/palette.ts";
import { reduceLines, type Reduction } from "../../../charts/lines/reduce.ts";
import { visibleText } from "../../../prepare/visible-text.ts";
import { withNeighbours } from "./beyond-zoom.ts";
import type { ReadGroup } from "./read-groups.ts";
import type { ReadPoints } from "./read-lines.ts";
import { shareWords } from "./series-points.ts";

/** A run as charts draw it. */
export interface ChartRun {
  readonly id: string;
  readonly name: string;
  readonly colour: string;
  readonly dash: readonly number[];
  /** When it started. */
  readonly startUs: number;
}

/** Runs that are drawn as one line when grouped. */
export interface ChartGroup {
  readonly name: string;
  readonly colour: string;
  readonly dash: readonly number[];
  readonly runIds: readonly string[];
}

export interface LineOptions {
  /** One line per run, with all its labels merged. */
  readonly labels: Reduction | undefined;
  readonly baseline: string | undefined;
  readonly dark: boolean;
  /** The whole series, when `read` is only the zoomed part. */
  readonly whole?: readonly ReadPoints[] | undefined;
}

/** The series as lines with names and colours. Labels of a single run get different colours. */
export function linesOf(
  read: readonly ReadPoints[],
  runs: readonly ChartRun[],
  options: LineOptions,
): Line[] {
  const { labels, baseline, dark, whole } = options;
  const wholes = new Map(whole?.map((each) => [idOf(each), each.points]));
  const full = read.map((each) => {
    const all = wholes.get(idOf(each));
    return all === undefined ? each : { ...each, points: withNeighbours(each.points, all) };
  });
  // A series without a point in the zoomed part may still cross it.
  const seen = new Set(read.map(idOf));
  for (const each of whole ?? []) if (!seen.has(idOf(each))) full.push(each);
  const reduced = labels === undefined ? full : reducePerRun(full, labels);
  const alone = new Set(reduced.map(({ runId }) => runId)).size === 1 && reduced.length > 1;
  const byId = new Map(runs.map((run) => [run.id, run]));
  const lines = reduced.flatMap(({ runId, label, points }, i): Line[] => {
    const run = byId.get(runId);
    if (run === undefined) return [];
    const name = visibleText(label === "" ? run.name : alone ? label : `${run.name} ${label}`);
    return [
      {
        ...points,
        ...(points.words && { words: points.words.map(visibleText) }),
        id: `${runId} ${label}`,
        runId: alone ? `${runId} ${label}` : runId,
        name,
        colour: alone ? colourAt(i, dark) : run.colour,
        dash: alone ? dashAt(i) : run.dash,
        bold: runId === baseline,
      },
    ];
  });
  const place = new Map(runs.map((run, i) => [run.id, i]));
  const idPlace = (line: Line): number => place.get(line.id.slice(0, line.id.indexOf(" "))) ?? 0;
  return shareWords(lines.sort((a, b) => idPlace(a) - idPlace(b)));
}

/** Points that restarts replaced, with the names and colours of their lines. */
export function fadedLines(
  read: readonly ReadPoints[],
  runs: readonly ChartRun[],
  options: LineOptions,
): Line[] {
  return linesOf(read, runs, options)
    .filter(({ x }) => x.length > 0)
    .map((line) => {
      const more = { id: `${line.id} rewound`, name: `${line.name} (rewound)`, bold: false, faded: true };
      return Object.assign({}, line, more);
    });
}

function idOf({ runId, label }: ReadPoints): string {
  return `${runId} ${label}`;
}

function reducePerRun(read: readonly ReadPoints[], how: Reduction): ReadPoints[] {
  const perRun = Map.groupBy(read, ({ runId }) => runId);
  return [...perRun].map(([runId, all]): ReadPoints => {
    const first = all[0]!;
    if (all.length === 1) return first;
    const points = all.map((each) => each.points);
    // Texts have no mean: the first line decides the kind.
    const isText = points.some(({ words }) => words !== undefined);
    return { runId, label: "", points: isText ? first.points : reduceLines(points, how) };
  });
}

export function groupLines(read: readonly ReadGroup[], groups: readonly ChartGroup[]): Line[] {
  const byName = new Map(groups.map((group) => [group.name, group]));
  return read.flatMap(({ name, points }): Line[] => {
    const group = byName.get(name);
    if (group === undefined || points.x.length === 0) return [];
    const { colour, dash } = group;
    return [{ ...points, id: name, runId: name, name: visibleText(name), colour, dash }];
  });
}
