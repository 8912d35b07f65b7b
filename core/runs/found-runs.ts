import type { Run } from "../types/run.ts";
import type { SearchResult } from "../ports/run-search.ts";
import { project, type Projection } from "./columns.ts";

/** A run with the requested metric columns, by their names such as "val_acc.max". */
export interface FoundRun {
  run: Run;
  metrics: ReadonlyMap<string, number>;
}

/** In the order they were found; without those that were not read. */
export function toFoundRuns(
  found: Pick<SearchResult, "ids" | "metrics">,
  stored: readonly Run[],
  projection: Projection,
): FoundRun[] {
  const byId = new Map(stored.map((run) => [run.id, run]));
  return found.ids.flatMap((id, row) => {
    const run = byId.get(id);
    // Purged, or moved out of sight, between the search and now.
    if (run === undefined) return [];
    const metrics = new Map<string, number>();
    projection.metrics.forEach(({ name }, column) => {
      const value = found.metrics[column]?.[row];
      if (value !== undefined) metrics.set(name, value);
    });
    return [{ run: project(run, projection), metrics }];
  });
}
