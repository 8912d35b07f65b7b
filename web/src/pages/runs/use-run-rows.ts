import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { fieldType } from "#lang/query/fields.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { startUs } from "#sdk/run-facts.ts";
import { useDark } from "../../widgets/theme.ts";
import { colourAt, dashAt } from "../../charts/paint/palette.ts";
import type { ChartRun } from "../../panels/charts/lines/chart-lines.ts";
import { highlightedRun } from "../../charts/highlighted-run.ts";
import type { RunList } from "../../data/runs/run-list.ts";
import { serverClock } from "../../data/server.ts";
import { useNow } from "../../data/use-now.ts";
import { formatCount } from "#lang/words/numbers.ts";
import { defaultColumns } from "./table/default-columns.ts";
import { findPageField, searchColumn } from "../../data/runs/field.ts";
import { flatten, GROUPED_MAX, groupRuns, innermost, type Group, type Item } from "./table/grouping.ts";
import type { KnownKeys } from "../../data/runs/known-keys.ts";
import { layOut, type Column } from "./table/layout.ts";
import type { RowActions } from "./table/run-table.tsx";
import { ALL_BUT, type RunsSearch, type SearchPatch } from "./search.ts";
import { assignPlaces, firstRuns, SHOWN_MAX, shownRuns, withEye } from "./table/shown-runs.ts";
import { SparkLines } from "./table/spark-lines.ts";
import { useFarRuns } from "./use-far-runs.ts";
import { useHeartbeats } from "./use-heartbeats.ts";
import { useRunList } from "../../data/runs/use-run-list.ts";
import { SELECTED_MAX, useSelection } from "./use-selection.ts";

export interface RunRows {
  list: RunList | undefined;
  failure: unknown;
  refresh: () => void;
  columns: readonly Column[];
  count: number;
  itemAt: (index: number) => Item;
  /** All runs of the table that are read, in their order. */
  rows: readonly Run[];
  groups: readonly Group[];
  shown: readonly ChartRun[];
  colourOf: (run: Run) => string | undefined;
  groupColour: (place: number) => string;
  lines: SparkLines;
  nowMs: number;
  onSeen: (from: number, end: number) => void;
  selected: ReadonlySet<string>;
  select: (ids: Iterable<string>) => void;
  allSelected: boolean;
  selectAll: (isSelected: boolean) => void;
  actions: Omit<RowActions, "open" | "compare" | "focusQuery" | "filter">;
  isMoreBetter: (column: Column) => boolean;
  split: number;
  /** A notice about the table; empty for none. */
  remark: string;
}

/** At 1280 pixels the columns up to the objective are not cut. */
const SPLIT = 62;
const NOW_EVERY_MS = 5_000;
const NO_GROUPS: readonly string[] = [];
const NO_ROWS: readonly Run[] = [];

/** Everything the table, the footer and the charts of the page share. */
export function useRunRows(
  namespace: string,
  search: RunsSearch,
  setSearch: (patch: SearchPatch, replace?: boolean) => void,
  known: KnownKeys | undefined,
  isPending: boolean,
): RunRows {
  const group = search.group ?? NO_GROUPS;
  const { columns, view } = useView(namespace, search, group, known, isPending);
  const [lines] = useState(() => new SparkLines());
  useEffect(() => () => lines.close(), [lines]);
  const lookedAt = useRef({ from: 0, end: 0 });
  const seenIds = useRef<readonly string[]>([]);
  const { list, failure, refresh } = useRunList(view, lookedAt, (ids) => lines.forget(ids));
  const nowMs = useNow(NOW_EVERY_MS);
  useHeartbeats(list, seenIds, nowMs);
  const version = list?.version;
  const isGrouped = group.length > 0;
  const rows = list?.rows ?? NO_ROWS;
  const { groups, items } = useGroups(list, rows, group, search.shut);
  const itemAt = useCallback(
    (index: number): Item => items?.[index] ?? { kind: "run", run: list?.at(index), place: index, depth: 0 },
    [items, list, version],
  );

  const shown = useShown(rows, groups, list, search);
  const onSeen = useCallback(
    (from: number, end: number) => {
      lookedAt.current = items === undefined ? { from, end } : { from: 0, end: 0 };
      if (items === undefined) list?.look(from, end);
      const ids = Array.from({ length: Math.max(0, end - from) }, (_, i) => itemAt(from + i)).flatMap(
        (item) => (item.kind === "run" && item.run ? [item.run.id] : []),
      );
      seenIds.current = ids;
      lines.want(ids, lineKeys(columns));
    },
    [list, items, itemAt, columns, lines],
  );

  const { selected, select } = useSelection(search.sel, setSearch);
  const [selectFailure, onFailure] = useState<unknown>();
  const anchor = useRef(0);
  const total = list?.total ?? 0;
  const actions = {
    ...selectActions({ items, list, itemAt, anchor, selected, select, onFailure }),
    ...viewActions(search, setSearch, shown),
  };
  return {
    list,
    failure: failure ?? selectFailure,
    refresh: () => {
      onFailure(undefined);
      refresh();
    },
    columns,
    count: items?.length ?? total,
    itemAt,
    rows,
    groups,
    shown: shown.runs,
    colourOf: shown.colourOf,
    groupColour: shown.groupColour,
    lines,
    nowMs,
    onSeen,
    selected,
    select,
    allSelected: selected.size > 0 && selected.size >= Math.min(total, SELECTED_MAX),
    selectAll: (isSelected) => {
      if (!isSelected || list === undefined) return select([]);
      list.range(0, SELECTED_MAX).then((found) => select(found.map(({ id }) => id)), onFailure);
    },
    actions,
    isMoreBetter: ({ field }) => isMoreBetter(field, known),
    split: search.split ?? SPLIT,
    remark: remarkOf(isGrouped, total),
  };
}

/** The columns, and the fields to read for them; nothing until the keys are known. */
function useView(
  namespace: string,
  search: RunsSearch,
  group: readonly string[],
  known: KnownKeys | undefined,
  isPending: boolean,
) {
  const texts = useMemo(
    () => search.cols ?? (known === undefined ? ["name", "status", "duration"] : defaultColumns(known)),
    [search.cols, known],
  );
  const columns = useMemo(
    () => layOut(texts, search, { ...(known && { numeric: known.numeric }), isGrouped: group.length > 0 }),
    [texts, search.pin, search.w, known, group],
  );
  const view = useMemo(
    () =>
      isPending && search.cols === undefined
        ? undefined
        : { query: search.q ?? "", namespace, columns: columnsToAsk(texts, group) },
    [search.q, namespace, texts, group, isPending, search.cols],
  );
  return { columns, view };
}

/** The groups of the first runs, and all rows that are not folded; no items where nothing is grouped. */
function useGroups(
  list: RunList | undefined,
  rows: readonly Run[],
  group: readonly string[],
  folded: readonly string[] | undefined,
): { groups: readonly Group[]; items: readonly Item[] | undefined } {
  const isGrouped = group.length > 0;
  useEffect(() => {
    if (isGrouped) list?.need(GROUPED_MAX);
  }, [list, isGrouped]);
  return useMemo(() => {
    if (!isGrouped) return { groups: [], items: undefined };
    const foldedKeys = new Set(folded);
    const made = groupRuns(rows.slice(0, GROUPED_MAX), group, serverClock.now());
    return { groups: made, items: flatten(made, (key) => foldedKeys.has(key)) };
  }, [rows, list?.version, group, isGrouped, folded]);
}

function selectActions({
  items,
  list,
  itemAt,
  anchor,
  selected,
  select,
  onFailure,
}: Pick<RunRows, "list" | "itemAt" | "selected" | "select"> & {
  items: readonly Item[] | undefined;
  /** The start of a range. */
  anchor: { current: number };
  onFailure: (failure: unknown) => void;
}): Pick<RowActions, "select" | "selectGroup"> {
  return {
    select: (index, isRange) => {
      const [from, to] = isRange
        ? [Math.min(anchor.current, index), Math.max(anchor.current, index)]
        : [index, index];
      // The rows between may not be loaded.
      if (isRange && items === undefined && list?.isThere(from, to + 1) === false) {
        return void list
          .range(from, Math.min(to + 1, from + SELECTED_MAX))
          .then((found) => select([...selected, ...found.map(({ id }) => id)]), onFailure);
      }
      const ids = Array.from({ length: to - from + 1 }, (_, i) => itemAt(from + i)).flatMap((item) =>
        item.kind === "run" && item.run ? [item.run.id] : [],
      );
      anchor.current = index;
      const isAdded = isRange || !ids.every((id) => selected.has(id));
      select(isAdded ? [...selected, ...ids] : [...selected].filter((id) => !ids.includes(id)));
    },
    selectGroup: ({ runs }, isSelected) => {
      const ids = new Set(runs.map(({ id }) => id));
      const others = [...selected].filter((id) => !ids.has(id));
      select(isSelected && !runs.every(({ id }) => selected.has(id)) ? [...others, ...ids] : others);
    },
  };
}

function viewActions(
  search: RunsSearch,
  setSearch: (patch: SearchPatch) => void,
  shown: ReturnType<typeof useShown>,
): Pick<RowActions, "toggleEye" | "toggleGroupEye" | "fold" | "hover"> {
  return {
    toggleEye: (run) => setSearch(withEye(search, [run.id], !shown.places.has(run.id), shown.first)),
    toggleGroupEye: ({ runs }) => {
      const ids = runs.map(({ id }) => id);
      const isOpen = !ids.some((id) => shown.places.has(id));
      setSearch(
        withEye(
          search,
          isOpen ? ids.slice(0, SHOWN_MAX) : ids.filter((id) => shown.places.has(id)),
          isOpen,
          shown.first,
        ),
      );
    },
    fold: ({ key }) => {
      const folded = search.shut ?? [];
      const others = folded.filter((each) => each !== key);
      setSearch({ shut: others.length < folded.length ? others : [...folded, key] });
    },
    hover: (run) => highlightedRun.set(run?.id),
  };
}

function remarkOf(isGrouped: boolean, total: number): string {
  if (!isGrouped || total <= GROUPED_MAX) return "";
  return `Only the first ${formatCount(GROUPED_MAX)} of ${formatCount(total)} runs are grouped. Narrow the query to see all.`;
}

function isMoreBetter(field: Column["field"], known: KnownKeys | undefined): boolean {
  // Texts begin with A, times with the newest, durations with the longest.
  if (field.of !== "metric") return field.of === "run" && !["text", "status"].includes(fieldType(field));
  return field.stat === "max" || known?.directions.get(field.key) === Direction.MAXIMIZE;
}

/** The fields that the columns and groups need; a cheap one when they need none, because no field means all params. */
function columnsToAsk(texts: readonly string[], group: readonly string[]): string[] {
  const asked = new Set<string>();
  for (const text of [...texts, ...group]) {
    if (text.startsWith(ALL_BUT)) asked.add("params");
    const field = findPageField(text);
    const column = field && searchColumn(field);
    if (column !== undefined) asked.add(column);
  }
  return asked.size === 0 ? ["aliases"] : [...asked].toSorted();
}

function lineKeys(columns: readonly Column[]): string[] {
  return columns.flatMap(({ field }) => (field.of === "line" ? [field.key] : []));
}

/** The runs in the charts and their colours: one per run, or one per group. */
function useShown(
  rows: readonly Run[],
  groups: readonly Group[],
  list: RunList | undefined,
  search: RunsSearch,
) {
  const dark = useDark();
  const [kept] = useState(() => ({ places: new Map<string, number>() }));
  const version = list?.version;
  const far = useFarRuns(list, search.show);
  return useMemo(() => {
    const last = innermost(groups);
    const first = firstRuns(rows, last);
    const runs = shownRuns(
      first,
      (id) => {
        const place = list?.placeOf(id);
        return place === undefined ? far.get(id) : list?.at(place);
      },
      search,
    );
    const groupPlaces = new Map(
      last.flatMap(({ runs: members }, i) => members.map(({ id }) => [id, i] as const)),
    );
    const ids = runs.map(({ id }) => id);
    if (groupPlaces.size === 0) kept.places = assignPlaces(kept.places, ids);
    const places =
      groupPlaces.size === 0 ? kept.places : new Map(ids.map((id) => [id, groupPlaces.get(id) ?? 0]));
    return {
      places,
      first: new Set(first.map(({ id }) => id)),
      groupColour: (place: number) => colourAt(place, dark),
      runs: runs.map((run): ChartRun => {
        const { id, name } = run;
        const place = places.get(id)!;
        return { id, name, colour: colourAt(place, dark), dash: dashAt(place), startUs: startUs(run) };
      }),
      colourOf: ({ id }: Run) => {
        const place = places.get(id);
        return place === undefined ? undefined : colourAt(place, dark);
      },
    };
  }, [rows, version, groups, list, far, search.hide, search.show, dark, kept]);
}
