import { memo, useSyncExternalStore } from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { sparklinePath } from "../../../charts/paint/sparkline.ts";
import { heartbeatOf } from "../../../data/runs/heartbeat.ts";
import { highlightedRun } from "../../../charts/highlighted-run.ts";
import { formatAge, formatAgo } from "#lang/words/times.ts";
import { Eye, EyeOff, Search } from "../../../widgets/icons/icons.ts";
import { Name } from "../../../widgets/name.tsx";
import { StatusDot } from "../../../widgets/status-dot.tsx";
import { cutText, visibleText } from "../../../prepare/visible-text.ts";
import { cellOf } from "./cell.ts";
import { cellCondition } from "./cell-condition.ts";
import type { Column } from "./layout.ts";
import type { RowActions } from "./run-table.tsx";
import styles from "./run-table.module.css";
import type { SparkLines } from "./spark-lines.ts";

export interface RowPlace {
  id: string;
  index: number;
  isCurrent: boolean;
  template: string;
  columns: readonly Column[];
  top: number;
  nowMs: number;
  isTree: boolean;
  onCurrent: () => void;
}

interface RunRowProps extends RowPlace {
  /** Undefined while it is loading. */
  run: Run | undefined;
  depth: number;
  isSelected: boolean;
  /** Undefined when the charts do not show it. */
  colour: string | undefined;
  lines: SparkLines;
  actions: RowActions;
}

const INDENT = 12;
const SHOWN_LENGTH_MAX = 200;
const TITLE_LENGTH_MAX = 1_000;
const LINE_HEIGHT = 20;
const LINE_PADDING = 16;

export function RunRow(props: RunRowProps) {
  const { run, index, template, top, isSelected, isCurrent, colour, actions } = props;
  // Under the pointer here or in a chart.
  const isHighlighted = useSyncExternalStore(
    highlightedRun.subscribe,
    () => run !== undefined && highlightedRun.get() === run.id,
  );
  const names = [
    styles.row,
    isSelected && styles.selected,
    isCurrent && styles.current,
    isHighlighted && styles.highlighted,
  ];
  return (
    <div
      id={props.id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-level={props.isTree ? props.depth + 1 : undefined}
      className={names.filter(Boolean).join(" ")}
      style={{ gridTemplateColumns: template, transform: `translateY(${top}px)` }}
      onPointerEnter={() => actions.hover(run)}
      onClick={props.onCurrent}
    >
      {run === undefined ? (
        <Placeholder columns={props.columns} />
      ) : (
        <>
          <div role="gridcell" className={`${styles.lead} ${styles.pinned}`}>
            <input
              type="checkbox"
              tabIndex={-1}
              checked={isSelected}
              aria-label={`Select ${visibleText(run.name)}`}
              onChange={(event) => actions.select(index, (event.nativeEvent as MouseEvent).shiftKey)}
            />
            <button
              type="button"
              tabIndex={-1}
              className={styles.eye}
              aria-pressed={colour !== undefined}
              aria-label={`Show ${visibleText(run.name)} in charts`}
              onClick={() => actions.toggleEye(run)}
            >
              {colour === undefined ? <EyeOff size={14} aria-hidden /> : <Eye size={14} aria-hidden />}
            </button>
            <span className={styles.swatch} style={{ background: colour }} aria-hidden />
          </div>
          {props.columns.map((column) => (
            <RunCell key={column.text} {...props} run={run} column={column} isHighlighted={isHighlighted} />
          ))}
        </>
      )}
    </div>
  );
}

function Placeholder({ columns }: { columns: readonly Column[] }) {
  return (
    <>
      <div role="gridcell" className={`${styles.lead} ${styles.pinned}`} />
      {columns.map(({ text, stickyLeft }) => (
        <div
          key={text}
          role="gridcell"
          className={stickyLeft === undefined ? styles.cell : `${styles.cell} ${styles.pinned}`}
          style={{ left: stickyLeft }}
        >
          <span className={styles.coming} />
        </div>
      ))}
    </>
  );
}

function RunCell({
  run,
  column,
  nowMs,
  depth,
  colour,
  lines,
  actions,
  isHighlighted,
}: RunRowProps & { run: Run; column: Column; isHighlighted: boolean }) {
  const { field, stickyLeft, width } = column;
  if (field.of === "run" && field.name === "name") {
    return (
      <div
        role="gridcell"
        className={`${styles.cell} ${styles.pinned} ${styles.name} ${column.isEdge ? styles.lastPinned : ""}`}
        style={{ left: stickyLeft, paddingLeft: depth * INDENT }}
      >
        <RunLink run={run} onOpen={actions.open} />
      </div>
    );
  }
  const cell = cellOf(run, field, nowMs);
  const isNumber = column.isNumeric || cell.number !== undefined;
  const names = [
    styles.cell,
    isNumber && styles.numeric,
    stickyLeft !== undefined && styles.pinned,
    column.isEdge && styles.lastPinned,
  ];
  const title =
    field.of === "run" && field.name === "status"
      ? heardTitle(run, nowMs)
      : visibleText(cutText(cell.whole, TITLE_LENGTH_MAX));
  return (
    <div
      role="gridcell"
      className={names.filter(Boolean).join(" ")}
      style={{ left: stickyLeft }}
      title={title || undefined}
    >
      {field.of === "line" ? (
        <Line runId={run.id} metric={field.key} width={width - LINE_PADDING} colour={colour} lines={lines} />
      ) : field.of === "run" && field.name === "status" ? (
        <Status run={run} nowMs={nowMs} />
      ) : (
        <span className={styles.cut}>
          <bdi>{visibleText(cutText(cell.text, SHOWN_LENGTH_MAX))}</bdi>
        </span>
      )}
      {isHighlighted && <FilterButton run={run} column={column} onFilter={actions.filter} />}
    </div>
  );
}

/** Only in the row under the pointer: hundreds of them would slow down the table. The query bar does the same by keyboard. */
function FilterButton({
  run,
  column: { field, label },
  onFilter,
}: {
  run: Run;
  column: Column;
  onFilter: RowActions["filter"];
}) {
  const condition = cellCondition(run, field);
  if (condition === undefined) return null;
  return (
    <button
      type="button"
      tabIndex={-1}
      className={styles.filter}
      aria-label={`Only runs with this ${visibleText(label)}`}
      title={`Only ${visibleText(condition)}`}
      onClick={() => onFilter(condition)}
    >
      <Search size={12} aria-hidden />
    </button>
  );
}

/**
 * A plain link: each of the router's links would react to every change of the address. With a modifier the browser
 * handles it.
 */
function RunLink({ run, onOpen }: { run: Run; onOpen: (run: Run) => void }) {
  return (
    <a
      href={`/r/${run.id}`}
      tabIndex={-1}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onOpen(run);
      }}
    >
      <Name text={run.name} />
    </a>
  );
}

/** A running run shows its last activity. */
function Status({ run, nowMs }: { run: Run; nowMs: number }) {
  const heartbeat = heartbeatOf(run, nowMs);
  if (heartbeat === undefined) return <StatusDot status={run.status} />;
  const { heardUs, isLate } = heartbeat;
  return (
    <>
      <StatusDot status={run.status} isLate={isLate} />
      <span className={isLate ? styles.late : styles.heard}>
        <span className="unseen">active </span>
        {formatAge((nowMs * 1_000 - heardUs) / 1e6)}
        <span className="unseen"> ago{isLate && ", late"}</span>
      </span>
    </>
  );
}

function heardTitle(run: Run, nowMs: number): string {
  const heartbeat = heartbeatOf(run, nowMs);
  if (heartbeat === undefined) return "";
  const heard = `active ${formatAgo(heartbeat.heardUs, nowMs)}`;
  const { heartbeatSeconds: every } = run;
  return heartbeat.isLate
    ? `${heard}: late. A heartbeat is expected every ${every} s; lost after ${3 * every} s`
    : heard;
}

const Line = memo(function Line({
  runId,
  metric,
  width,
  colour,
  lines,
}: {
  runId: string;
  metric: string;
  width: number;
  colour: string | undefined;
  lines: SparkLines;
}) {
  const line = useSyncExternalStore(lines.subscribe, () => lines.find(runId, metric));
  if (line === undefined || line.y.length === 0) return null;
  return (
    <svg
      width={width}
      height={LINE_HEIGHT}
      className={styles.line}
      role="img"
      aria-label={`${metric} over its steps`}
    >
      <path d={sparklinePath(line.y, width, LINE_HEIGHT, line.x)} style={{ stroke: colour }} />
    </svg>
  );
});
