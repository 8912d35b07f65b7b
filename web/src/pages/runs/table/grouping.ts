import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { leafContent, leafOf } from "#lang/json/leaf.ts";
import { paramLeaves } from "#lang/json/leaves.ts";
import { paramAt } from "#lang/json/param-at.ts";
import { cellOf } from "./cell.ts";
import { fieldLabel, findPageField, type PageField } from "../../../data/runs/field.ts";
import { ALL_BUT } from "../search.ts";

/** Groups are made here, from runs that were read; more than this would take too long. */
export const GROUPED_MAX = 5_000;
const NAMED_PARAMS_MAX = 12;
const SEPARATOR = "\u001f";

/** Runs that share a value, or a run in them. */
export interface Group {
  /** The values from the outermost level on; stays the same while the runs come and go. */
  key: string;
  label: string;
  depth: number;
  runs: readonly Run[];
  /** Of the next level; empty on the last. */
  inner: readonly Group[];
}

export type Item =
  | { kind: "run"; run: Run | undefined; place: number; depth: number }
  | { kind: "group"; group: Group; isOpen: boolean };

interface Level {
  /** Equal for runs of one group. */
  valueOf(run: Run): string;
  labelOf(run: Run): string;
}

/** Groups in the order in which their first run comes, so that the order of the runs orders them, too. */
export function groupRuns(runs: readonly Run[], by: readonly string[], nowMs: number): Group[] {
  const levels = by.flatMap((text) => levelOf(text, runs, nowMs) ?? []);
  return levels.length === 0 ? [] : split(runs, levels, 0, "");
}

function split(runs: readonly Run[], levels: readonly Level[], depth: number, above: string): Group[] {
  const level = levels[depth];
  if (level === undefined) return [];
  const parts = new Map<string, Run[]>();
  for (const run of runs) {
    const value = level.valueOf(run);
    const part = parts.get(value);
    if (part === undefined) parts.set(value, [run]);
    else part.push(run);
  }
  return [...parts].map(([value, part]) => {
    const key = above === "" ? value : above + SEPARATOR + value;
    return {
      key,
      label: level.labelOf(part[0]!),
      depth,
      runs: part,
      inner: split(part, levels, depth + 1, key),
    };
  });
}

function levelOf(text: string, runs: readonly Run[], nowMs: number): Level | undefined {
  if (text.startsWith(ALL_BUT)) return allBut(text.slice(ALL_BUT.length), runs);
  const field = findPageField(text);
  if (field === undefined) return undefined;
  const valueOf = (run: Run) => cellOf(run, field, nowMs).whole;
  return { valueOf, labelOf: (run) => `${fieldLabel(field)} ${valueOf(run) || "none"}` };
}

/** Runs of one configuration: all params equal but one, such as the seed. Only params that differ anywhere are named. */
function allBut(text: string, runs: readonly Run[]): Level | undefined {
  const left = findPageField(text);
  if (left?.of !== "param") return undefined;
  const names = varyingParams(runs).filter((path) => path !== left.key);
  const valueOf = ({ params }: Run) => names.map((path) => paramAt(params, path) ?? "").join(SEPARATOR);
  return {
    valueOf,
    labelOf: ({ params }) =>
      names
        .slice(0, NAMED_PARAMS_MAX)
        .flatMap((path) => {
          const value = paramAt(params, path);
          return value === undefined
            ? []
            : [`${path.slice(path.lastIndexOf(".") + 1)} ${leafContent(leafOf(value))}`];
        })
        .join(", ") || "all equal",
  };
}

function varyingParams(runs: readonly Run[]): string[] {
  const seen = new Map<string, { value: string; count: number; varies: boolean }>();
  for (const { params } of runs) {
    for (const [path, { source: value }] of paramLeaves(Object.entries(params))) {
      const known = seen.get(path);
      if (known === undefined) seen.set(path, { value, count: 1, varies: false });
      else {
        known.count++;
        known.varies ||= known.value !== value;
      }
    }
  }
  return [...seen]
    .filter(([, { varies, count }]) => varies || count < runs.length)
    .map(([path]) => path)
    .toSorted();
}

/** The rows of the table: groups, and below open ones their groups or runs. */
export function flatten(groups: readonly Group[], isShut: (key: string) => boolean): Item[] {
  const items: Item[] = [];
  const add = (group: Group) => {
    const isOpen = !isShut(group.key);
    items.push({ kind: "group", group, isOpen });
    if (!isOpen) return;
    if (group.inner.length > 0) for (const each of group.inner) add(each);
    else {
      for (const run of group.runs)
        items.push({ kind: "run", run, place: items.length, depth: group.depth + 1 });
    }
  };
  for (const group of groups) add(group);
  return items;
}

/** The groups that hold runs themselves. */
export function innermost(groups: readonly Group[]): Group[] {
  return groups.flatMap((group) => (group.inner.length === 0 ? [group] : innermost(group.inner)));
}

export interface Aggregate {
  count: number;
  mean: number;
  /** With n - 1; NaN for a single run. */
  std: number;
}

/** Over the runs that have a finite number there; undefined when none has. */
export function aggregate(runs: readonly Run[], field: PageField, nowMs: number): Aggregate | undefined {
  // Welford's way: sums of squares lose all digits where the spread is small beside the mean.
  let count = 0;
  let mean = 0;
  let squares = 0;
  for (const run of runs) {
    const { number } = cellOf(run, field, nowMs);
    if (number === undefined || !Number.isFinite(number)) continue;
    count++;
    const off = number - mean;
    mean += off / count;
    squares += off * (number - mean);
  }
  return count === 0
    ? undefined
    : { count, mean, std: count < 2 ? Number.NaN : Math.sqrt(squares / (count - 1)) };
}
