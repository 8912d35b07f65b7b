import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { searchRuns } from "#sdk/pages.ts";
import { queryAmong } from "../../data/live/merge.ts";
import type { RunList } from "../../data/runs/run-list.ts";
import { cairn } from "../../data/server.ts";
import { SHOWN_MAX } from "./table/shown-runs.ts";

const NONE: ReadonlyMap<string, Run> = new Map();

/** The given runs that belong to the table but are in a part that was not read, such as runs of a link. */
export function useFarRuns(
  list: RunList | undefined,
  runIds: readonly string[] = [],
): ReadonlyMap<string, Run> {
  const version = list?.version;
  const far = useMemo(
    () => (list === undefined ? [] : runIds.filter((id) => list.placeOf(id) === undefined)),
    [list, version, runIds],
  );
  const asked = far.slice(0, SHOWN_MAX).toSorted();
  const { data } = useQuery({
    queryKey: ["far-runs", list?.view.namespace, list?.view.query, asked],
    queryFn: async ({ signal }) => {
      const { view } = list!;
      const request = { namespace: view.namespace, query: queryAmong(view, asked), columns: ["aliases"] };
      const { runs } = await searchRuns(cairn, { ...request, pageSize: SHOWN_MAX }, { signal });
      return new Map(runs.map((run) => [run.id, run]));
    },
    enabled: asked.length > 0,
    placeholderData: keepPreviousData,
  });
  return asked.length === 0 ? NONE : (data ?? NONE);
}
