import { useState, type KeyboardEvent, type PointerEvent } from "react";
import type { DraftOrder } from "#lang/query/draft/order.ts";
import { visibleText } from "../../../prepare/visible-text.ts";
import { isSortable } from "../../../data/runs/field.ts";
import { ArrowDown, ArrowUp } from "../../../widgets/icons/icons.ts";
import type { Column } from "./layout.ts";
import { isOrderBy } from "./query-order.ts";
import styles from "./run-table.module.css";
import { WIDTH_MAX, WIDTH_MIN } from "../search.ts";

export interface HeadActions {
  orders: readonly DraftOrder[];
  sort: (column: Column, isAdded: boolean) => void;
  resize: (column: Column, width: number) => void;
  move: (from: string, to: string) => void;
  selectAll: (isSelected: boolean) => void;
}

interface TableHeadProps extends HeadActions {
  columns: readonly Column[];
  template: string;
  width: number;
  allSelected: boolean;
}

const KEY_STEP = 16;

/** Names of the columns: a click sorts, the right edge resizes, dragging moves. */
export function TableHead({ columns, template, width, allSelected, ...actions }: TableHeadProps) {
  return (
    <div role="rowgroup" className={styles.head} style={{ minWidth: width }}>
      <div role="row" aria-rowindex={1} className={styles.row} style={{ gridTemplateColumns: template }}>
        <div
          role="columnheader"
          className={`${styles.lead} ${styles.pinned}`}
          aria-label="Selected and shown"
        >
          <input
            type="checkbox"
            aria-label="Select all runs"
            checked={allSelected}
            onChange={(event) => actions.selectAll(event.target.checked)}
          />
        </div>
        {columns.map((column) => (
          <HeadCell key={column.text} column={column} {...actions} />
        ))}
      </div>
    </div>
  );
}

function HeadCell({ column, orders, sort, resize, move }: { column: Column } & HeadActions) {
  const [isTarget, setTarget] = useState(false);
  const { text, field, stickyLeft, isNumeric } = column;
  const order = orders.find((each) => isOrderBy(each, field));
  const sorted = order === undefined ? "none" : order.descending ? "descending" : "ascending";
  const label = visibleText(column.label);
  const names = [
    styles.headCell,
    isNumeric && styles.numeric,
    stickyLeft !== undefined && styles.pinned,
    column.isEdge && styles.lastPinned,
    isTarget && styles.target,
  ];
  return (
    <div
      role="columnheader"
      aria-sort={isSortable(field) ? sorted : undefined}
      className={names.filter(Boolean).join(" ")}
      style={{ left: stickyLeft, ...(text === "name" && { paddingLeft: 0 }) }}
      draggable={text !== "name"}
      onDragStart={(event) => {
        event.dataTransfer.setData("text/x-cairn-column", text);
        event.dataTransfer.effectAllowed = "move";
      }}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes("text/x-cairn-column")) return;
        event.preventDefault();
        setTarget(true);
      }}
      onDragLeave={() => setTarget(false)}
      onDrop={(event) => {
        event.preventDefault();
        setTarget(false);
        move(event.dataTransfer.getData("text/x-cairn-column"), text);
      }}
    >
      {isSortable(field) ? (
        <button
          type="button"
          className={styles.sort}
          title={label}
          onClick={(event) => sort(column, event.shiftKey)}
        >
          <span className={styles.cut}>{label}</span>
          {sorted === "ascending" && <ArrowUp size={12} aria-hidden />}
          {sorted === "descending" && <ArrowDown size={12} aria-hidden />}
        </button>
      ) : (
        <span className={styles.cut} title={label}>
          {label}
        </span>
      )}
      <Resizer column={column} label={label} resize={resize} />
    </div>
  );
}

function Resizer({
  column,
  label,
  resize,
}: {
  column: Column;
  label: string;
  resize: HeadActions["resize"];
}) {
  const clamp = (width: number) => Math.round(Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, width)));
  const start = (event: PointerEvent<HTMLDivElement>) => {
    const handle = event.currentTarget;
    const from = event.clientX;
    handle.setPointerCapture(event.pointerId);
    // At most once per frame: every width goes into the address.
    let frame = 0;
    const onMove = (moved: globalThis.PointerEvent) => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => resize(column, clamp(column.width + moved.clientX - from)));
    };
    handle.addEventListener("pointermove", onMove);
    handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", onMove), {
      once: true,
    });
    event.preventDefault();
  };
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === "ArrowLeft") resize(column, clamp(column.width - KEY_STEP));
    if (key === "ArrowRight") resize(column, clamp(column.width + KEY_STEP));
  };
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${label}`}
      aria-valuenow={column.width}
      aria-valuemin={WIDTH_MIN}
      aria-valuemax={WIDTH_MAX}
      tabIndex={0}
      className={styles.resizer}
      onPointerDown={start}
      onKeyDown={onKeyDown}
      draggable
      onDragStart={(event) => {
        // The edge is dragged, not the column.
        event.preventDefault();
        event.stopPropagation();
      }}
    />
  );
}
