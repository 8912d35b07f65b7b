import { useVirtualizer } from "@tanstack/react-virtual";
import {
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
  type Ref,
} from "react";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { RunList } from "../../../data/runs/run-list.ts";
import { GroupRow } from "./group-row.tsx";
import type { Group, Item } from "./grouping.ts";
import { LEAD_WIDTH, tableWidth, type Column } from "./layout.ts";
import { RunRow, type RowPlace } from "./run-row.tsx";
import styles from "./run-table.module.css";
import type { SparkLines } from "./spark-lines.ts";
import { TableHead, type HeadActions } from "./table-head.tsx";

export interface RowActions {
  open: (run: Run) => void;
  /** With shift, all from the last selected one. */
  select: (index: number, isRange: boolean) => void;
  selectGroup: (group: Group, isSelected: boolean) => void;
  toggleEye: (run: Run) => void;
  toggleGroupEye: (group: Group) => void;
  fold: (group: Group) => void;
  hover: (run: Run | undefined) => void;
  compare: () => void;
  focusQuery: () => void;
  /** Narrows the query by one more condition. */
  filter: (condition: string) => void;
}

interface RunTableProps {
  ref?: Ref<TableHandle>;
  columns: readonly Column[];
  count: number;
  itemAt: (index: number) => Item;
  /** The source of the rows, unless they are grouped. */
  list: RunList | undefined;
  selected: ReadonlySet<string>;
  colourOf: (run: Run) => string | undefined;
  lines: SparkLines;
  nowMs: number;
  isFaded: boolean;
  /** Whether there are groups. */
  isTree: boolean;
  /** Called with the visible range. */
  onSeen: (from: number, end: number) => void;
  head: HeadActions;
  actions: RowActions;
  allSelected: boolean;
}

export interface TableHandle {
  focus: () => void;
  toTop: () => void;
}

const ROW_HEIGHT = 28;
const OVERSCAN = 12;
/** Browsers limit heights to about 33 million pixels. */
const ROWS_MAX = 1_000_000;
const PAGE_ROWS = 20;

/** A virtual grid: only visible rows exist. One of them is the current one; keys move it and act on it. */
export function RunTable(props: RunTableProps) {
  const { ref, columns, count, itemAt, list, selected, onSeen, actions, ...rest } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(0);
  const rowCount = Math.min(count, ROWS_MAX);
  const virtual = useVirtualizer({
    count: rowCount,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    // The head covers the first rows.
    scrollPaddingStart: ROW_HEIGHT,
  });
  const rows = virtual.getVirtualItems();
  const first = rows[0]?.index ?? 0;
  const end = (rows.at(-1)?.index ?? -1) + 1;
  useEffect(() => onSeen(first, end), [first, end, count, onSeen]);
  useKeptPlace(list, scroller, (rowsMoved) => setCurrent((before) => before + rowsMoved));
  useImperativeHandle(ref, () => ({
    focus: () => scroller.current?.focus(),
    toTop: () => {
      setCurrent(0);
      virtual.scrollToOffset(0);
    },
  }));

  const at = Math.min(current, Math.max(0, rowCount - 1));
  const move = (to: number) => {
    const next = Math.max(0, Math.min(rowCount - 1, to));
    setCurrent(next);
    virtual.scrollToIndex(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    const isHere = target === scroller.current;
    // A box, an eye or a link of a row handles the space bar and Enter itself when it has the focus.
    const isInRow = target.closest(`.${styles.body}`) !== null && event.key !== " " && event.key !== "Enter";
    if (!(isHere || isInRow) || rowCount === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (act(event, itemAt(at), at, move, rowCount, actions)) event.preventDefault();
  };
  const template = `${LEAD_WIDTH}px ${columns.map(({ width }) => `${width}px`).join(" ")}`;
  const width = tableWidth(columns);
  return (
    <div
      ref={scroller}
      className={styles.scroller}
      role={rest.isTree ? "treegrid" : "grid"}
      tabIndex={0}
      aria-label="Runs"
      aria-rowcount={rowCount + 1}
      aria-colcount={columns.length + 1}
      aria-multiselectable
      aria-activedescendant={rowCount > 0 ? `row-${at}` : undefined}
      onKeyDown={onKeyDown}
    >
      <TableHead
        columns={columns}
        template={template}
        width={width}
        allSelected={rest.allSelected}
        {...rest.head}
      />
      <TableBody
        {...rest}
        rows={rows}
        itemAt={itemAt}
        selected={selected}
        actions={actions}
        current={at}
        onCurrent={setCurrent}
        place={{ template, columns }}
        style={{ height: virtual.getTotalSize(), minWidth: width }}
      />
    </div>
  );
}

function TableBody({
  rows,
  itemAt,
  current,
  onCurrent,
  place,
  style,
  isFaded,
  isTree,
  nowMs,
  ...row
}: Pick<RunTableProps, "itemAt" | "isFaded" | "isTree" | "nowMs"> &
  RowProps & {
    rows: readonly { index: number; start: number }[];
    current: number;
    onCurrent: (index: number) => void;
    place: Pick<RowPlace, "template" | "columns">;
    style: CSSProperties;
  }) {
  return (
    <div
      role="rowgroup"
      className={isFaded ? `${styles.body} ${styles.faded}` : styles.body}
      style={style}
      onPointerLeave={() => row.actions.hover(undefined)}
    >
      {rows.map(({ index, start }) => {
        const item = itemAt(index);
        return (
          <TableRow
            key={item.kind === "group" ? `g${index}` : index}
            selected={row.selected}
            colourOf={row.colourOf}
            lines={row.lines}
            actions={row.actions}
            item={item}
            place={{
              ...place,
              id: `row-${index}`,
              index,
              isCurrent: index === current,
              top: start,
              nowMs,
              isTree,
              onCurrent: () => onCurrent(index),
            }}
          />
        );
      })}
    </div>
  );
}

type RowProps = Pick<RunTableProps, "selected" | "colourOf" | "lines" | "actions">;

function TableRow({
  item,
  place,
  selected,
  colourOf,
  lines,
  actions,
}: RowProps & { item: Item; place: RowPlace }) {
  if (item.kind === "group")
    return <GroupRow {...place} item={item} selected={selected} colourOf={colourOf} actions={actions} />;
  const { run } = item;
  return (
    <RunRow
      {...place}
      run={run}
      depth={item.depth}
      isSelected={run !== undefined && selected.has(run.id)}
      colour={run && colourOf(run)}
      lines={lines}
      actions={actions}
    />
  );
}

/**
 * Runs that appear or disappear above the visible rows do not move them: the first visible row stays in place. At the
 * top new ones are shown.
 */
function useKeptPlace(
  list: RunList | undefined,
  scroller: { current: HTMLDivElement | null },
  onMoved: (rowsMoved: number) => void,
): void {
  const kept = useRef<{ list: RunList; runId: string; place: number }>(undefined);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || list === undefined) return;
    const before = kept.current;
    const now = before?.list === list ? list.placeOf(before.runId) : undefined;
    if (now !== undefined && now !== before!.place && element.scrollTop >= ROW_HEIGHT) {
      element.scrollTop += (now - before!.place) * ROW_HEIGHT;
      onMoved(now - before!.place);
    }
    const place = Math.floor(element.scrollTop / ROW_HEIGHT);
    const run = list.at(place);
    kept.current = run && { list, runId: run.id, place };
  });
}

/** True when the key was handled. */
function act(
  { key, shiftKey }: KeyboardEvent,
  item: Item,
  at: number,
  move: (to: number) => void,
  count: number,
  actions: RowActions,
): boolean {
  switch (key) {
    case "j":
    case "ArrowDown":
      move(at + 1);
      return true;
    case "k":
    case "ArrowUp":
      move(at - 1);
      return true;
    case "PageDown":
      move(at + PAGE_ROWS);
      return true;
    case "PageUp":
      move(at - PAGE_ROWS);
      return true;
    case "Home":
      move(0);
      return true;
    case "End":
      move(count - 1);
      return true;
    case "x":
      actions.compare();
      return true;
  }
  if (item.kind === "group") return actOnGroup(key, item, actions);
  if (item.run === undefined) return false;
  if (key === " ") actions.select(at, shiftKey);
  else if (key === "e") actions.toggleEye(item.run);
  else if (key === "Enter") actions.open(item.run);
  else return false;
  return true;
}

function actOnGroup(key: string, { group, isOpen }: Item & { kind: "group" }, actions: RowActions): boolean {
  if (key === "Enter" || (key === "ArrowLeft" && isOpen) || (key === "ArrowRight" && !isOpen))
    actions.fold(group);
  else if (key === " ") actions.selectGroup(group, true);
  else if (key === "e") actions.toggleGroupEye(group);
  else return false;
  return true;
}
