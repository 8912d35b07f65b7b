import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useRef, type Ref } from "react";
import { splitOrder } from "#lang/query/draft/order.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { Button } from "../../widgets/button.tsx";
import { EmptyState } from "../../widgets/notices/empty-state.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { useKey } from "../../widgets/use-keys.ts";
import { ColumnPicker } from "./table/column-picker.tsx";
import { COMPARED_MAX } from "./compared.ts";
import { FooterBar } from "./footer-bar.tsx";
import { GroupPicker } from "./table/group-picker.tsx";
import { knownKeys } from "../../data/runs/key-queries.ts";
import type { KnownKeys } from "../../data/runs/known-keys.ts";
import { moved } from "./table/layout.ts";
import { andText } from "../../panels/query/and-text.ts";
import { isMine, withMine } from "../../panels/query/my-runs.ts";
import { MyRunsButton } from "../../panels/query/my-runs-button.tsx";
import { isQueryFault, NamespaceFault } from "../../panels/query/namespace-fault.tsx";
import { QueryBar } from "../../panels/query/query-bar.tsx";
import { withNextOrder } from "./table/query-order.ts";
import { RunTable, type RowActions, type TableHandle } from "./table/run-table.tsx";
import styles from "./runs-page.module.css";
import { RunCharts } from "./run-charts.tsx";
import type { RunsSearch, SearchPatch } from "./search.ts";
import { SplitView } from "./split-view.tsx";
import type { HeadActions } from "./table/table-head.tsx";
import { useRunRows, type RunRows } from "./use-run-rows.ts";
import { useUndo } from "./use-undo.ts";

/** The runs of a namespace and below it. */
export function RunsPage() {
  const { _splat: namespace = "" } = useParams({ from: "/n/$" });
  // Another namespace is another page, without state of the last one.
  return <Runs key={namespace} namespace={namespace} />;
}

function Runs({ namespace }: { namespace: string }) {
  const search = useSearch({ from: "/n/$" });
  const navigate = useNavigate({ from: "/n/$" });
  const known = useQuery(knownKeys(namespace));
  const table = useRef<TableHandle>(null);
  const queryBar = useRef<{ focus: () => void }>(null);
  const setSearch = (patch: SearchPatch, replace = true) =>
    void navigate({
      search: (before) => withPatch(before, patch),
      replace,
      state: (before) => (replace ? before : { isChange: true }),
    });
  const rows = useRunRows(namespace, search, setSearch, known.data, known.isPending);
  const { list, failure } = rows;
  const { q: query = "" } = search;
  const ask = (q: string) => {
    if (q === query) rows.refresh();
    else setSearch({ q: q || undefined }, false);
    table.current?.toTop();
  };
  const focusQuery = () => queryBar.current?.focus();
  useKey("/", focusQuery);
  useUndo();

  if (known.error && (list === undefined || list.total === 0) && !isQueryFault(known.error)) {
    return <NamespaceFault namespace={namespace} error={known.error} onRetry={() => void known.refetch()} />;
  }
  const actions: RowActions = {
    ...rows.actions,
    open: ({ id }: Run) => void navigate({ to: "/r/$run", params: { run: id } }),
    compare: () => {
      if (rows.selected.size > 1) void navigate(comparisonOf(rows.selected));
    },
    focusQuery,
    filter: (condition) => ask(withCondition(query, condition)),
  };
  return (
    <div className={styles.page}>
      <RunsBar
        namespace={namespace}
        search={search}
        rows={rows}
        known={known.data}
        queryRef={queryBar}
        onAsk={ask}
        onLeave={() => table.current?.focus()}
        onSearch={setSearch}
      />
      <SplitView
        percent={rows.split}
        onPercent={(split) => setSearch({ split })}
        left={
          <div className={styles.side}>
            {failure !== undefined && !isQueryFault(failure) && (
              <ErrorNote error={failure} onRetry={rows.refresh} />
            )}
            {rows.remark !== "" && <p className={styles.remark}>{rows.remark}</p>}
            <Listed
              rows={rows}
              tableRef={table}
              query={query}
              actions={actions}
              head={headActions(rows, search, ask, setSearch)}
              onClear={() => ask("")}
            />
            <FooterBar rows={rows} onCompare={actions.compare} />
          </div>
        }
        right={
          <RunCharts
            namespace={namespace}
            rows={rows}
            search={search.charts ?? {}}
            onSearch={(charts, replace) => setSearch({ charts }, replace)}
          />
        }
      />
    </div>
  );
}

/** A condition that is there already is not added again. */
function withCondition(query: string, condition: string): string {
  return query.includes(condition) ? query : andText(query, condition);
}

type SetSearch = (patch: SearchPatch, replace?: boolean) => void;

function RunsBar({
  namespace,
  search,
  rows: { columns, failure, split },
  known,
  queryRef,
  onAsk,
  onLeave,
  onSearch,
}: {
  namespace: string;
  search: RunsSearch;
  rows: RunRows;
  known: KnownKeys | undefined;
  queryRef: Ref<{ focus: () => void }>;
  onAsk: (query: string) => void;
  onLeave: () => void;
  onSearch: SetSearch;
}) {
  const query = search.q ?? "";
  // Groups in the table are groups in the charts, unless the address sets something else.
  const setGroup = (group: string[]) => {
    const charts = { ...search.charts };
    if (group.length === 0) delete charts.group;
    else charts.group ??= "mean-std";
    onSearch({ group, shut: undefined, charts }, false);
  };
  return (
    <div className={styles.bar}>
      <h1 className="unseen">Runs of {namespace}</h1>
      <QueryBar
        ref={queryRef}
        query={query}
        known={known}
        failure={isQueryFault(failure) ? failure : undefined}
        onSubmit={onAsk}
        onLeave={onLeave}
      />
      <MyRunsButton isOn={isMine(query)} onChange={(isOn) => onAsk(withMine(query, isOn))} />
      <GroupPicker group={search.group ?? []} known={known} onChange={setGroup} />
      <ColumnPicker
        namespace={namespace}
        columns={columns}
        known={known}
        isChanged={search.cols !== undefined || search.pin !== undefined || search.w !== undefined}
        onChange={(cols) => onSearch({ cols }, false)}
        onPin={(text, isPinned) => {
          const pin = (search.pin ?? []).filter((each) => each !== text);
          onSearch({ pin: isPinned ? [...pin, text] : pin }, false);
        }}
        onReset={() => onSearch({ cols: undefined, pin: undefined, w: undefined }, false)}
      />
      <Link
        to="/explore/$"
        params={{ _splat: namespace }}
        search={query === "" ? {} : { q: query }}
        className={styles.explore}
        title="Explore these runs"
      >
        Explore
      </Link>
      <Button aria-pressed={split < 100} onClick={() => onSearch({ split: split < 100 ? 100 : undefined })}>
        Charts
      </Button>
    </div>
  );
}

function comparisonOf(selected: ReadonlySet<string>) {
  return { to: "/compare", search: { runs: [...selected].slice(0, COMPARED_MAX).join(",") } } as const;
}

/** The table, or the reason for its absence. */
function Listed({
  rows,
  tableRef,
  query,
  actions,
  head,
  onClear,
}: {
  rows: RunRows;
  tableRef: Ref<TableHandle>;
  query: string;
  actions: RowActions;
  head: HeadActions;
  onClear: () => void;
}) {
  const { list, failure } = rows;
  if (list === undefined) {
    return <div className={styles.waiting}>{failure === undefined && <Skeleton lines={12} />}</div>;
  }
  if (rows.count === 0) {
    return (
      <div className={styles.waiting}>
        <Nothing query={query} onClear={onClear} />
      </div>
    );
  }
  const isGrouped = rows.groups.length > 0;
  return (
    <RunTable
      ref={tableRef}
      columns={rows.columns}
      count={rows.count}
      itemAt={rows.itemAt}
      list={isGrouped ? undefined : list}
      selected={rows.selected}
      colourOf={rows.colourOf}
      lines={rows.lines}
      nowMs={rows.nowMs}
      isFaded={failure !== undefined}
      isTree={isGrouped}
      onSeen={rows.onSeen}
      allSelected={rows.allSelected}
      actions={actions}
      head={head}
    />
  );
}

function headActions(
  { columns, isMoreBetter, selectAll }: RunRows,
  search: RunsSearch,
  ask: (query: string) => void,
  setSearch: SetSearch,
): HeadActions {
  const query = search.q ?? "";
  const texts = columns.map(({ text }) => text);
  return {
    orders: splitOrder(query).orders,
    sort: (column, add) =>
      ask(withNextOrder(query, column.field, { add, descendingFirst: isMoreBetter(column) })),
    resize: (column, width) => setSearch({ w: { ...search.w, [column.text]: width } }),
    move: (from, to) => setSearch({ cols: moved(texts, from, to) }, false),
    selectAll,
  };
}

/** Undefined and empty values are left out of the address. */
function withPatch(before: RunsSearch, patch: SearchPatch): RunsSearch {
  const after: Record<string, unknown> = { ...before, ...patch };
  for (const [name, value] of Object.entries(after)) {
    const isEmpty =
      value === undefined ||
      value === "" ||
      (typeof value === "object" && Object.keys(value as object).length === 0);
    // An empty list of columns is valid.
    if (isEmpty && !(name === "cols" && value !== undefined)) delete after[name];
  }
  return after;
}

function Nothing({ query, onClear }: { query: string; onClear: () => void }) {
  if (query === "") {
    return (
      <EmptyState title="No runs yet">
        <p>Runs appear here as soon as a job creates one, without a reload.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No matches">
      <p>
        <Button onClick={onClear}>Show all runs</Button>
      </p>
    </EmptyState>
  );
}
