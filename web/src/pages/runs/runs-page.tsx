import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { Button } from "../../widgets/button.tsx";
import { EmptyState } from "../../widgets/empty-state.tsx";
import { ErrorNote } from "../../widgets/error-note.tsx";
import { Skeleton } from "../../widgets/skeleton.tsx";
import { ColumnPicker } from "./column-picker.tsx";
import { COMPARED_MAX } from "./compared.ts";
import { FooterBar } from "./footer-bar.tsx";
import { GroupPicker } from "./group-picker.tsx";
import { knownKeys } from "./known-keys.ts";
import { moved } from "./layout.ts";
import { isQueryFault, NamespaceFault } from "./namespace-fault.tsx";
import { QueryBar } from "./query-bar.tsx";
import { splitOrder, withNextOrder } from "./query-order.ts";
import { RunTable, type RowActions, type TableHandle } from "./run-table.tsx";
import styles from "./runs-page.module.css";
import { RunCharts } from "./run-charts.tsx";
import type { RunsSearch, SearchPatch } from "./search.ts";
import { SplitView } from "./split-view.tsx";
import { useRunRows } from "./use-run-rows.ts";
import { useUndo } from "./use-undo.ts";

/** The runs of a namespace and below it. */
export function RunsPage() {
  const { _splat: namespace = "" } = useParams({ from: "/n/$" });
  // Another namespace is another page: nothing of the last one stays.
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
  const { columns, list, failure } = rows;
  const query = search.q ?? "";

  const ask = (q: string) => {
    if (q === query) rows.refresh();
    else setSearch({ q: q || undefined }, false);
    table.current?.toTop();
  };
  useKey("/", () => queryBar.current?.focus());
  useUndo();

  if (known.error && (list === undefined || list.total === 0) && !isQueryFault(known.error)) {
    return <NamespaceFault namespace={namespace} error={known.error} onRetry={() => void known.refetch()} />;
  }
  // Groups in the table are groups in the charts, unless somebody has said how to draw them.
  const setGroup = (group: string[]) => {
    const charts = { ...search.charts };
    if (group.length === 0) delete charts.group;
    else charts.group ??= "mean-std";
    setSearch({ group, shut: undefined, charts }, false);
  };
  const setColumns = (cols: string[]) => setSearch({ cols }, false);
  const actions: RowActions = {
    ...rows.actions,
    open: (run: Run) => void navigate({ to: "/r/$run", params: { run: run.id } }),
    compare: () => {
      if (rows.selected.size < 2) return;
      const compared = [...rows.selected].slice(0, COMPARED_MAX);
      void navigate({ to: "/compare", search: { runs: compared.join(",") } });
    },
    focusQuery: () => queryBar.current?.focus(),
  };
  return (
    <div className={styles.page}>
      <h1 className="unseen">Runs of {namespace}</h1>
      <div className={styles.bar}>
        <QueryBar
          ref={queryBar}
          query={query}
          known={known.data}
          failure={isQueryFault(failure) ? failure : undefined}
          onSubmit={ask}
          onLeave={() => table.current?.focus()}
        />
        <GroupPicker group={search.group ?? []} known={known.data} onChange={setGroup} />
        <ColumnPicker
          columns={columns}
          known={known.data}
          isChanged={search.cols !== undefined || search.pin !== undefined || search.w !== undefined}
          onChange={setColumns}
          onPin={(text, isPinned) => {
            const pin = (search.pin ?? []).filter((each) => each !== text);
            setSearch({ pin: isPinned ? [...pin, text] : pin }, false);
          }}
          onReset={() => setSearch({ cols: undefined, pin: undefined, w: undefined }, false)}
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
        <Button
          aria-pressed={rows.split < 100}
          onClick={() => setSearch({ split: rows.split < 100 ? 100 : undefined })}
        >
          Charts
        </Button>
      </div>
      <SplitView
        percent={rows.split}
        onPercent={(split) => setSearch({ split })}
        left={
          <div className={styles.side}>
            {failure !== undefined && !isQueryFault(failure) && (
              <ErrorNote error={failure} onRetry={rows.refresh} />
            )}
            {rows.remark !== "" && <p className={styles.remark}>{rows.remark}</p>}
            {list === undefined ? (
              <div className={styles.waiting}>{failure === undefined && <Skeleton lines={12} />}</div>
            ) : rows.count === 0 ? (
              <div className={styles.waiting}>
                <Nothing query={query} onClear={() => ask("")} />
              </div>
            ) : (
              <RunTable
                ref={table}
                columns={columns}
                count={rows.count}
                itemAt={rows.itemAt}
                list={rows.groups.length > 0 ? undefined : list}
                selected={rows.selected}
                colourOf={rows.colourOf}
                lines={rows.lines}
                nowMs={rows.nowMs}
                isFaded={failure !== undefined}
                isTree={rows.groups.length > 0}
                onSeen={rows.onSeen}
                allSelected={rows.allSelected}
                actions={actions}
                head={{
                  orders: splitOrder(query).orders,
                  sort: (column, add) =>
                    ask(
                      withNextOrder(query, column.text, { add, descendingFirst: rows.isMoreBetter(column) }),
                    ),
                  resize: (column, width) => setSearch({ w: { ...search.w, [column.text]: width } }),
                  move: (from, to) =>
                    setColumns(
                      moved(
                        columns.map(({ text }) => text),
                        from,
                        to,
                      ),
                    ),
                  selectAll: rows.selectAll,
                }}
              />
            )}
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

/** What is undefined or empty is left out of the address. */
function withPatch(before: RunsSearch, patch: SearchPatch): RunsSearch {
  const after: Record<string, unknown> = { ...before, ...patch };
  for (const [name, value] of Object.entries(after)) {
    const isEmpty =
      value === undefined ||
      value === "" ||
      (typeof value === "object" && Object.keys(value as object).length === 0);
    // No column at all is a choice.
    if (isEmpty && !(name === "cols" && value !== undefined)) delete after[name];
  }
  return after;
}

function Nothing({ query, onClear }: { query: string; onClear: () => void }) {
  if (query === "") {
    return (
      <EmptyState title="There are no runs here yet">
        <p>A run appears here the moment a job creates one; the page need not be loaded again.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No run matches">
      <p>
        <Button onClick={onClear}>Show all runs</Button>
      </p>
    </EmptyState>
  );
}

/** A key that works wherever nobody types. */
function useKey(key: string, onKey: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (
        event.key !== key ||
        event.ctrlKey ||
        event.metaKey ||
        target.closest("input:not([type=checkbox]), textarea, [role=dialog]")
      )
        return;
      event.preventDefault();
      onKey();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  });
}
