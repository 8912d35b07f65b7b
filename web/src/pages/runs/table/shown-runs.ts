import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Group } from "./grouping.ts";
import type { RunsSearch } from "../search.ts";

/** So many runs from the top are in the charts by default. */
export const SHOWN_FIRST = 10;
export const SHOWN_MAX = 100;

/** The default for groups: some runs of each, so that they can be compared. */
const SHOWN_OF_GROUPS = 20;

/** The runs that are shown by default. */
export function firstRuns(rows: readonly Run[], groups: readonly Group[]): Run[] {
  if (groups.length === 0) return rows.slice(0, SHOWN_FIRST);
  const each = Math.max(1, Math.floor(SHOWN_OF_GROUPS / groups.length));
  return groups.slice(0, SHOWN_OF_GROUPS).flatMap(({ runs }) => runs.slice(0, each));
}

/**
 * The runs whose eye is open: the first ones of the table, without hidden ones, and with added ones. Charts follow the
 * table, so that another order
 * shows other runs.
 */
export function shownRuns(
  first: readonly Run[],
  find: (runId: string) => Run | undefined,
  { hide = [], show = [] }: Pick<RunsSearch, "hide" | "show">,
): Run[] {
  const hidden = new Set(hide);
  const shown = new Map<string, Run>();
  for (const run of first) if (!hidden.has(run.id)) shown.set(run.id, run);
  for (const id of show) {
    const run = find(id);
    if (run !== undefined && !hidden.has(id)) shown.set(id, run);
  }
  return [...shown.values()].slice(0, SHOWN_MAX);
}

/** The lists of the address after the eye of a run was opened or closed. */
export function withEye(
  { hide = [], show = [] }: Pick<RunsSearch, "hide" | "show">,
  runIds: readonly string[],
  isOpen: boolean,
  first: ReadonlySet<string>,
): { hide: string[]; show: string[] } {
  const ids = new Set(runIds);
  const hides = hide.filter((id) => !ids.has(id));
  const shows = show.filter((id) => !ids.has(id));
  for (const id of ids) {
    if (isOpen && !first.has(id)) shows.push(id);
    if (!isOpen && first.has(id)) hides.push(id);
  }
  return { hide: hides, show: shows };
}

/**
 * A place in the palette for each: those that have one keep it while they are shown, and new ones take the lowest that is free. Another order of the table so
 * leaves every line its colour.
 */
export function assignPlaces(
  known: ReadonlyMap<string, number>,
  ids: readonly string[],
): Map<string, number> {
  const places = new Map<string, number>();
  const taken = new Set<number>();
  for (const id of ids) {
    const place = known.get(id);
    if (place === undefined || taken.has(place)) continue;
    places.set(id, place);
    taken.add(place);
  }
  let free = 0;
  for (const id of ids) {
    if (places.has(id)) continue;
    while (taken.has(free)) free++;
    places.set(id, free);
    taken.add(free);
  }
  return places;
}
