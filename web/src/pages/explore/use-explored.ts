import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import type { RunsView } from "../../data/live/types.ts";
import { serverClock } from "../../data/server.ts";
import { findField, printField } from "#lang/query/field-text.ts";
import { bestField, type KnownKeys } from "../../data/runs/known-keys.ts";
import { useRunList } from "../../data/runs/use-run-list.ts";
import { fieldsOfRuns, type RunFields } from "./answers/queries.ts";
import { useFreshAnswers } from "./answers/use-fresh-answers.ts";
import { ExploredTable } from "./columns/explored-table.ts";
import type { Objective } from "./objective/objective.ts";
import { FIELD_NAMES, NO_FIELD, type ExploreSearch } from "./search.ts";

/** The most runs that are read to be drawn; the page shows it. */
export const EXPLORED_MAX = 10_000;
/** Metrics that are read in advance, so that the first picks need no read. */
const METRICS_AT_HAND = 8;
const REDRAW_MS = 1_000;

export interface Explored {
  /** Undefined until the first runs are loaded. */
  shown: { table: ExploredTable; listed: RunFields } | undefined;
  /** How many match. */
  total: number;
  read: number;
  failure: unknown;
  refresh: () => void;
}

/** The runs that a query selects, with the fields of the views; read once and then kept current. */
export function useExplored(
  namespace: string,
  search: ExploreSearch,
  known: KnownKeys | undefined,
  isKnowing: boolean,
  objective: Objective | undefined,
): Explored {
  const columns = isKnowing ? undefined : columnsOf(search, known, objective).join("\n");
  const query = search.q ?? "";
  const view = useMemo(
    (): RunsView | undefined =>
      columns === undefined ? undefined : { query, namespace, columns: columns.split("\n") },
    [query, namespace, columns],
  );
  const lookedAt = useRef({ from: 0, end: 0 });
  const { list, failure, refresh } = useRunList(view, lookedAt, () => undefined);
  const fields = useQuery(fieldsOfRuns(namespace, query));
  useFreshAnswers(namespace, list);
  const version = list?.version;
  const wanted = Math.min(list?.total ?? 0, EXPLORED_MAX);
  const read = Math.min(list?.rows.length ?? 0, EXPLORED_MAX);
  const isThere = list !== undefined && (read >= wanted || list.isComplete);
  useEffect(() => {
    lookedAt.current = { from: 0, end: read };
    if (list !== undefined && !isThere) list.need(EXPLORED_MAX);
  }, [list, version, isThere, read]);
  const drawn = useCalm(isThere ? `${list.view.columns.join()} ${version}` : undefined);
  const kept = useRef<Explored["shown"]>(undefined);
  const table = useMemo(() => {
    if (drawn === undefined || list === undefined || !isThere) return undefined;
    return new ExploredTable(list.rows.slice(0, EXPLORED_MAX), serverClock.now());
    // The drawn runs replace the rows of the list.
  }, [list, drawn, isThere]);
  const listed = [fields.data, kept.current?.listed].find((each) => each?.query === list?.view.query);
  // While other columns, the next rows or their fields are loading, the last picture stays.
  if (table !== undefined && listed !== undefined) kept.current = { table, listed };
  return {
    shown: kept.current,
    total: list?.total ?? 0,
    read,
    failure: failure ?? fields.error ?? undefined,
    refresh: () => {
      refresh();
      if (fields.isError) void fields.refetch();
    },
  };
}

/** A running run changes many times a second; the picture of thousands is redrawn less often. */
function useCalm(value: string | undefined): string | undefined {
  const [calm, setCalm] = useState(value);
  const changedMs = useRef(0);
  useEffect(() => {
    if (value === calm) return undefined;
    const restMs =
      calm === undefined || value === undefined ? 0 : changedMs.current + REDRAW_MS - performance.now();
    const timer = setTimeout(
      () => {
        changedMs.current = performance.now();
        setCalm(value);
      },
      Math.max(0, restMs),
    );
    return () => clearTimeout(timer);
  }, [value, calm]);
  return calm;
}

/** All params and tags, and the metrics that are in use or likely to be. */
function columnsOf(
  search: ExploreSearch,
  known: KnownKeys | undefined,
  objective: Objective | undefined,
): string[] {
  const used = [
    ...(objective === undefined ? [] : [objective.text]),
    ...(search.axes ?? []),
    ...Object.keys(search.brush ?? {}),
    ...FIELD_NAMES.flatMap((name) => search[name] ?? []).filter((text) => text !== NO_FIELD),
    ...(known?.metrics ?? []).slice(0, METRICS_AT_HAND).map((key) => printField(bestField(key, known))),
  ];
  const metrics = used.flatMap((text) => {
    const field = findField(text);
    return field?.of === "metric" ? printField(field) : [];
  });
  return ["params", "tags", ...new Set(metrics)];
}
