import { useQueries, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import type { KeyDescription } from "#proto/cairn/v1/key_pb.ts";
import { SeriesKind, type SeriesInfo } from "#proto/cairn/v1/metric_pb.ts";
import type { Sample } from "#proto/cairn/v1/series_pb.ts";
import type { HeldObjective } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { bestStat } from "#sdk/direction.ts";
import { Target } from "../../../widgets/icons/icons.ts";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { ErrorNote } from "../../../widgets/notices/error-note.tsx";
import { formatCount, formatNumber } from "#lang/words/numbers.ts";
import { Name } from "../../../widgets/name.tsx";
import { Skeleton } from "../../../widgets/notices/skeleton.tsx";
import { cutText, visibleText } from "../../../prepare/visible-text.ts";
import { TextField } from "../../../widgets/fields/text-field.tsx";
import { useTypedText } from "../../../widgets/fields/typed-text.ts";
import { keyDescriptions } from "../../../panels/charts/catalogue.ts";
import { KeyFacts } from "../../../panels/charts/key-facts.tsx";
import { Card } from "../card.tsx";
import { orderMetrics } from "./order-metrics.ts";
import { seriesOfRun } from "../../../data/runs/run-queries.ts";
import styles from "./metrics.module.css";
import page from "../run.module.css";
import type { RunSearch } from "../search.ts";
import { seriesName, SPARK_HEIGHT, SPARK_WIDTH, sparklines } from "./sparklines.ts";

const route = getRouteApi("/r/$run");
const ROW_PX = 28;
const ROWS_SEEN_MAX = 14;
const TEXT_LENGTH_MAX = 200;
/** Sparklines are requested for so many rows at once. */
const SPARK_BLOCK = 24;

/** All metrics with their summaries; the objective comes first. */
export function MetricsCard({ run, objective }: { run: Run; objective: HeldObjective | undefined }) {
  const { data, error, refetch } = useQuery(seriesOfRun(run.id));
  const { data: descriptions } = useQuery(keyDescriptions(run.namespace));
  const { metrics: find = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const rows = useMemo(
    () => orderMetrics(data?.items ?? [], objective?.metric, find),
    [data, objective?.metric, find],
  );
  const field = useTypedText(
    find,
    (text) =>
      void navigate({
        resetScroll: false,
        search: (now) => ({ ...now, metrics: text === "" ? undefined : text }) as RunSearch,
        replace: true,
      }),
  );
  const count =
    data === undefined
      ? undefined
      : data.hasMore
        ? `more than ${formatCount(data.items.length)}`
        : formatCount(data.items.length);
  return (
    <Card
      title="Metrics"
      {...(count !== undefined && { count })}
      tools={
        <TextField label="Find metrics" quiet placeholder="Find metrics" {...field} className={page.find} />
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton lines={5} />}
      {data !== undefined && data.items.length === 0 && (
        <EmptyState title="No metrics yet">Metrics appear here as soon as the run logs points.</EmptyState>
      )}
      {data !== undefined && data.items.length > 0 && rows.length === 0 && (
        <p className={page.none}>No matches for “{visibleText(find)}”.</p>
      )}
      {rows.length > 0 && (
        <MetricRows runId={run.id} rows={rows} objective={objective} descriptions={descriptions} />
      )}
    </Card>
  );
}

function MetricRows({
  runId,
  rows,
  objective,
  descriptions,
}: {
  runId: string;
  rows: readonly SeriesInfo[];
  objective: HeldObjective | undefined;
  descriptions: ReadonlyMap<string, KeyDescription> | undefined;
}) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
    // The head is in the box, so that its columns are aligned with the others, with and without a scroll bar.
    scrollMargin: ROW_PX,
  });
  const items = virtual.getVirtualItems();
  const firstBlock = Math.floor((items[0]?.index ?? 0) / SPARK_BLOCK);
  const lastBlock = Math.floor((items.at(-1)?.index ?? 0) / SPARK_BLOCK);
  const sparks = useQueries({
    queries: Array.from({ length: lastBlock - firstBlock + 1 }, (_, i) => {
      const start = (firstBlock + i) * SPARK_BLOCK;
      return sparklines(runId, rows.slice(start, start + SPARK_BLOCK));
    }),
  });
  const pathOf = (index: number) =>
    sparks[Math.floor(index / SPARK_BLOCK) - firstBlock]?.data?.get(seriesName(rows[index]!)) ?? "";
  return (
    <div
      ref={box}
      className={styles.rows}
      role="table"
      aria-label="Metrics"
      aria-rowcount={rows.length + 1}
      tabIndex={rows.length > ROWS_SEEN_MAX ? 0 : undefined}
      style={{ height: (Math.min(rows.length, ROWS_SEEN_MAX) + 1) * ROW_PX }}
    >
      <div className={`${styles.metricRow} ${styles.headRow}`} role="row">
        <span role="columnheader">Metric</span>
        <span role="columnheader">Course</span>
        <span role="columnheader">Last</span>
        <span role="columnheader">Min</span>
        <span role="columnheader">Max</span>
        <span role="columnheader" className={styles.mean}>
          Mean
        </span>
        <span role="columnheader">Points</span>
      </div>
      <div style={{ height: virtual.getTotalSize(), position: "relative" }} role="rowgroup">
        {items.map(({ index, start }) => (
          <MetricRow
            key={index}
            info={rows[index]!}
            top={start - ROW_PX}
            index={index}
            objective={objective}
            description={descriptions?.get(rows[index]!.key)}
            path={pathOf(index)}
          />
        ))}
      </div>
    </div>
  );
}

function MetricRow({
  info,
  top,
  index,
  objective,
  description,
  path,
}: {
  info: SeriesInfo;
  top: number;
  index: number;
  objective: HeldObjective | undefined;
  description: KeyDescription | undefined;
  path: string;
}) {
  const { key, labels, kind, summary } = info;
  const isObjective = key === objective?.metric;
  const best = bestStat(isObjective ? objective?.direction : description?.direction);
  const labelText = Object.keys(labels)
    // The rank is the most useful label.
    .sort((a, b) => (a === "rank" ? -1 : b === "rank" ? 1 : a < b ? -1 : 1))
    .map((name) => `${name}=${labels[name]}`)
    .join(" ");
  return (
    <div
      className={isObjective ? `${styles.metricRow} ${styles.objective}` : styles.metricRow}
      role="row"
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span role="cell" className={styles.metricName}>
        {isObjective && <Target size={13} role="img" aria-label="The objective of this namespace" />}
        <Name text={key} />
        <KeyFacts description={description} />
        {labelText !== "" && (
          <span className={styles.labels}>
            <Name text={labelText} />
          </span>
        )}
      </span>
      <span role="cell" className={styles.spark}>
        {path !== "" && (
          <svg width={SPARK_WIDTH} height={SPARK_HEIGHT} role="img" aria-label="Course of the values">
            <path d={path} />
          </svg>
        )}
      </span>
      {kind === SeriesKind.TEXT ? (
        <span role="cell" className={styles.wideCell}>
          <Name text={cutText(summary?.last?.text ?? "", TEXT_LENGTH_MAX)} />
        </span>
      ) : (
        <>
          <Value sample={summary?.last} kind={kind} />
          <Value sample={summary?.min} kind={kind} isBest={best === "min"} />
          <Value sample={summary?.max} kind={kind} isBest={best === "max"} />
          <span role="cell" className={`${styles.number} ${styles.mean}`}>
            {summary?.mean === undefined ? "–" : formatNumber(summary.mean, { even: true })}
          </span>
        </>
      )}
      <span role="cell" className={`${styles.number} ${page.quiet}`}>
        {formatCount(Number(summary?.count ?? 0n))}
      </span>
    </div>
  );
}

function Value({
  sample,
  kind,
  isBest = false,
}: {
  sample: Sample | undefined;
  kind: SeriesKind;
  isBest?: boolean;
}) {
  if (sample === undefined) {
    return (
      <span role="cell" className={styles.number}>
        –
      </span>
    );
  }
  const exact = kind === SeriesKind.INTEGER ? String(sample.integer) : String(sample.value);
  const shown =
    kind === SeriesKind.INTEGER
      ? formatNumber(Number(sample.integer))
      : formatNumber(sample.value, { even: true });
  const title = sample.step === undefined ? exact : `${exact} at step ${sample.step}`;
  return (
    <span role="cell" className={isBest ? `${styles.number} ${styles.best}` : styles.number} title={title}>
      {shown}
    </span>
  );
}
