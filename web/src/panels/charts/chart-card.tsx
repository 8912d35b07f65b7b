import { memo, useState } from "react";
import { Failure } from "#sdk/failure.ts";
import { sentenceOf, badgeOf } from "../../charts/lines/summary.ts";
import { SeriesChart } from "../../charts/series-chart.tsx";
import { highlightedRun } from "../../charts/highlighted-run.ts";
import { Button } from "../../widgets/button.tsx";
import { ErrorNote } from "../../widgets/notices/error-note.tsx";
import { formatCount } from "#lang/words/numbers.ts";
import { Name } from "../../widgets/name.tsx";
import { Skeleton } from "../../widgets/notices/skeleton.tsx";
import { visibleText } from "../../prepare/visible-text.ts";
import type { KeyEntry } from "./catalogue.ts";
import { ChartMenu } from "./chart-menu.tsx";
import { ChartTable } from "./chart-table.tsx";
import styles from "./charts.module.css";
import { drawingOf } from "./key-drawing.ts";
import { KeyFacts } from "./key-facts.tsx";
import { axisOf, type PanelView } from "./panel-view.ts";
import { useChartLines, type ChartLines } from "./use-chart-lines.ts";

export const CHART_HEIGHT_PX = 192;

/** One metric: its name, chart and actions. */
export const ChartCard = memo(function ChartCard({ entry, view }: { entry: KeyEntry; view: PanelView }) {
  const { key } = entry;
  const [asTable, setAsTable] = useState(false);
  const read = useChartLines(entry, view);
  const description = view.descriptions?.get(key);
  const isDrawn = read.lines?.some((line) => line.x.length > 0) ?? false;
  const byStep = view.grouping !== undefined && view.xKind === "metric";
  const badge = isDrawn ? badgeOf(read.lines!, byStep ? undefined : xNameOf(view)) : undefined;
  return (
    <section className={styles.card} aria-label={visibleText(key)}>
      <header className={styles.head}>
        <h3 className={styles.key}>
          <Name text={key} />
        </h3>
        <KeyFacts description={description} />
        <span className={styles.space} />
        {read.lines !== undefined && read.error !== null && (
          <button
            type="button"
            className={`${styles.badge} ${styles.failed}`}
            title={`${Failure.from(read.error, location.origin).message}. Click to try again.`}
            onClick={read.retry}
          >
            not up to date
          </button>
        )}
        {read.tooMany && (
          <span
            className={styles.badge}
            title="Too many label sets to draw each: the mean of each run is shown."
          >
            mean of labels
          </span>
        )}
        {byStep && (
          <span className={styles.badge} title="Groups are made by step or time, not by another metric.">
            by step
          </span>
        )}
        {badge !== undefined && (
          <span className={styles.badge} title={badge.detail}>
            {badge.text}
          </span>
        )}
        <ChartMenu
          shown={{ key, lines: read.lines ?? [], view, isHeat: isHeat(entry, view, read) }}
          isTable={asTable}
          onTable={() => setAsTable(!asTable)}
        />
      </header>
      <CardBody entry={entry} view={view} read={read} asTable={asTable} />
    </section>
  );
});

/** Texts have no colours. */
function isHeat({ hasLabels }: KeyEntry, { labels, grouping }: PanelView, read: ChartLines): boolean {
  if (labels !== "heat" || grouping !== undefined || !hasLabels || read.tooMany) return false;
  return read.lines?.every(({ words }) => words === undefined) ?? false;
}

function xNameOf({ xKey }: PanelView): string | undefined {
  return xKey === undefined ? undefined : visibleText(xKey);
}

function CardBody({
  entry,
  view,
  read,
  asTable,
}: {
  entry: KeyEntry;
  view: PanelView;
  read: ChartLines;
  asTable: boolean;
}) {
  const { lines, error } = read;
  if (lines === undefined) {
    return (
      <div className={styles.body}>
        {error === null ? (
          <Skeleton lines={1} height={150} />
        ) : (
          <ErrorNote error={error} onRetry={read.retry} />
        )}
      </div>
    );
  }
  const unplaced = lines.reduce((sum, line) => sum + line.unplacedCount, 0);
  if (lines.every((line) => line.x.length === 0)) {
    return (
      <div className={styles.nothing}>
        <p>
          {unplaced > 0 ? `${formatCount(unplaced)} points, none` : "No points"} with a{" "}
          {view.xKind === "metric" ? (
            <>
              value of <Name text={view.xKey ?? ""} /> at the same step
            </>
          ) : view.xKind === "step" ? (
            "step"
          ) : (
            "time"
          )}
          .
        </p>
        {view.xKind === "step" && <Button onClick={() => view.onX("time")}>Show by time</Button>}
        {view.xKind === "metric" && <Button onClick={() => view.onX(undefined)}>Show by step</Button>}
      </div>
    );
  }
  const { xKind, range } = axisOf(view);
  const xName = xKind === "metric" ? xNameOf(view) : undefined;
  if (asTable) {
    return <ChartTable title={sentenceOf(visibleText(entry.key), lines, xName ?? xKind)} lines={lines} />;
  }
  const { fixedY, order } = drawingOf(view.descriptions?.get(entry.key));
  return (
    <SeriesChart
      title={visibleText(entry.key)}
      lines={lines}
      height={CHART_HEIGHT_PX}
      dark={view.dark}
      order={order}
      cursor={view.cursor}
      moving={view.moving}
      highlighted={highlightedRun}
      xKind={xKind}
      xName={xName}
      log={view.log}
      clip={view.clip}
      smoothing={view.smoothing}
      zoom={range}
      zoomY={view.yRanges.get(entry.key)}
      fixedY={fixedY}
      heat={isHeat(entry, view, read)}
      baseline={view.baseline}
      onZoom={view.onZoom}
      onZoomY={(y) => view.onZoomY(entry.key, y)}
      onReset={() => view.onReset(entry.key)}
    />
  );
}
