import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useRef, useState } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { useKey } from "../../widgets/use-keys.ts";
import { Button } from "../../widgets/button.tsx";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { EmptyState } from "../../widgets/notices/empty-state.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { formatCount } from "#lang/words/numbers.ts";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { TabPanel, Tabs } from "../../widgets/tabs.tsx";
import { useDark } from "../../widgets/theme.ts";
import { knownKeys } from "../../data/runs/key-queries.ts";
import { isQueryFault, NamespaceFault } from "../../panels/query/namespace-fault.tsx";
import { QueryBar } from "../../panels/query/query-bar.tsx";
import { countOf, maskOf, withBrush, type Brushes } from "./columns/brush.ts";
import { withBrushes } from "./columns/brush-query.ts";
import styles from "./explore.module.css";
import type { ExploreViewProps } from "./explore-view.ts";
import { FilterBar } from "./filter-bar.tsx";
import { ImportanceView } from "./importance/importance-view.tsx";
import { objectiveOf } from "./objective/objective.ts";
import { ObjectivePicker } from "./objective/objective-picker.tsx";
import { ParallelView } from "./parallel/parallel-view.tsx";
import { ScatterView } from "./scatter/scatter-view.tsx";
import { EXPLORE_TABS, withPatch, type ExplorePatch } from "./search.ts";
import { EXPLORED_MAX, useExplored } from "./use-explored.ts";

/** Charts of curves come with it. */
const FacetView = lazy(async () => ({ default: (await import("./facets/facet-view.tsx")).FacetView }));

const LABELS = {
  parallel: "Parallel coordinates",
  scatter: "Scatter",
  importance: "Importance",
  facets: "Facets",
} as const;
const TABS = EXPLORE_TABS.map((value) => ({ value, label: LABELS[value] }));

/** Relations between many runs and their objective. */
export function ExplorePage() {
  const { _splat: namespace = "" } = useParams({ from: "/explore/$" });
  // Another namespace is another page, without state of the last one.
  return <Explore key={namespace} namespace={namespace} />;
}

function Explore({ namespace }: { namespace: string }) {
  const search = useSearch({ from: "/explore/$" });
  const navigate = useNavigate({ from: "/explore/$" });
  const known = useQuery(knownKeys(namespace));
  const objective = objectiveOf(search, known.data);
  const explored = useExplored(namespace, search, known.data, known.isPending, objective);
  const queryBar = useRef<{ focus: () => void }>(null);
  const { shown, failure } = explored;
  useKey("/", () => queryBar.current?.focus());
  const onSearch = (patch: ExplorePatch, how: "push" | "replace" = "push") =>
    void navigate({ search: (before) => withPatch(before, patch), replace: how === "replace" });
  if (known.error && (shown?.table.runs.length ?? 0) === 0 && !isQueryFault(known.error)) {
    return <NamespaceFault namespace={namespace} error={known.error} onRetry={() => void known.refetch()} />;
  }
  const ask = (q: string) => {
    if (q === (search.q ?? "")) explored.refresh();
    else onSearch({ q: q || undefined });
  };
  return (
    <div className={styles.page}>
      <h1 className="unseen">Explore {namespace === "" ? "all runs" : namespace}</h1>
      <div className={styles.bar}>
        <QueryBar
          ref={queryBar}
          query={search.q ?? ""}
          known={known.data}
          failure={isQueryFault(failure) ? failure : undefined}
          onSubmit={ask}
          onLeave={() => undefined}
        />
        <ObjectivePicker objective={objective} known={known.data} onSearch={onSearch} />
        <CopyButton text={location.href} label="Copy a link to this view" />
      </div>
      {failure !== undefined && !isQueryFault(failure) && (
        <ErrorNote error={failure} onRetry={explored.refresh} />
      )}
      {shown === undefined ? (
        <div className={styles.waiting}>
          {failure === undefined && (
            <>
              <Skeleton lines={8} height={28} />
              {explored.read > 0 && (
                <p className={styles.quiet} role="status">
                  {formatCount(explored.read)} of {formatCount(Math.min(EXPLORED_MAX, explored.total))} runs
                </p>
              )}
            </>
          )}
        </div>
      ) : shown.table.runs.length === 0 ? (
        <Nothing query={search.q ?? ""} onClear={() => ask("")} />
      ) : (
        <Views
          namespace={namespace}
          total={explored.total}
          {...shown}
          known={known.data}
          objective={objective}
          search={search}
          onSearch={onSearch}
          onOpen={(run: Run) => void navigate({ to: "/r/$run", params: { run: run.id } })}
        />
      )}
    </div>
  );
}

interface ViewsProps extends Pick<
  ExploreViewProps,
  "namespace" | "table" | "listed" | "known" | "objective" | "search" | "onSearch" | "onOpen"
> {
  total: number;
}

const NO_BRUSH: Brushes = {};

function Views({ total, ...given }: ViewsProps) {
  const { table, listed, objective, search, onSearch } = given;
  const dark = useDark();
  const [draft, setDraft] = useState<Brushes>();
  const settled = search.brush ?? NO_BRUSH;
  const brushes = draft ?? settled;
  const mask = useMemo(
    () => maskOf(table.runs.length, (text) => table.column(text), brushes),
    [table, brushes],
  );
  const remaining = useMemo(() => countOf(mask), [mask]);
  const view: ExploreViewProps = {
    ...given,
    judged: objective && table.column(objective.text),
    brushes,
    mask,
    remaining,
    asked: withBrushes(listed.query, settled, (text) => table.column(text)),
    dark,
    onBrush: (changes, isDraft = false) => {
      const next = Object.entries(changes).reduce(
        (all, [text, brush]) => withBrush(all, text, brush),
        settled,
      );
      setDraft(isDraft ? next : undefined);
      if (!isDraft) onSearch({ brush: next });
    },
  };
  return (
    <>
      <FilterBar total={total} view={view} />
      <Tabs
        label="Ways to look at the runs"
        value={search.tab ?? "parallel"}
        tabs={TABS}
        onChange={(value) => {
          const tab = EXPLORE_TABS.find((known) => known === value);
          onSearch({ tab: tab === "parallel" ? undefined : tab });
        }}
      >
        <TabPanel value="parallel">
          <ParallelView {...view} />
        </TabPanel>
        <TabPanel value="scatter">
          <ScatterView {...view} />
        </TabPanel>
        <TabPanel value="importance">
          <ImportanceView {...view} />
        </TabPanel>
        <TabPanel value="facets">
          <Suspense fallback={<Skeleton lines={6} height={40} />}>
            <FacetView {...view} />
          </Suspense>
        </TabPanel>
      </Tabs>
    </>
  );
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
        <Button onClick={onClear}>Explore all runs</Button>
      </p>
    </EmptyState>
  );
}
