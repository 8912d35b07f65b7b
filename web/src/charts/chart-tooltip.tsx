import { useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { xText, type XKind } from "./paint/frame.ts";
import type { Reading } from "./hover.ts";
import styles from "./chart-tooltip.module.css";
import { rowsAround } from "./tooltip-rows.ts";
import { formatNumber } from "#lang/words/numbers.ts";
import type { Watched } from "./watched.ts";

/** The position of the pointer. */
export interface Pointed {
  x: number;
  clientX: number;
  clientY: number;
  readings: readonly Reading[];
  /** The id of the line that is nearest. */
  near: string | undefined;
}

interface ChartTooltipProps {
  id: string;
  pointed: Watched<Pointed | undefined>;
  pinned: Pointed | undefined;
  xKind: XKind;
  xName?: string | undefined;
  smoothed: boolean;
  baseline: string | undefined;
  highlighted: Watched<string | undefined>;
  onUnpin(): void;
}

const ROWS_MAX = 10;
const PINNED_ROWS_MAX = 500;
const WIDTH_PX = 288;
const AWAY_PX = 16;

/** Values at the crosshair, sorted. Pinned it stays, can be searched, and highlights the run of a row. */
export function ChartTooltip(props: ChartTooltipProps) {
  const { id, pinned, xKind, xName, smoothed, baseline, highlighted, onUnpin } = props;
  const pointed = useSyncExternalStore(props.pointed.subscribe, props.pointed.get);
  const shown = pinned ?? pointed;
  const box = useRef<HTMLDivElement>(null);
  const [search, setSearch] = useState("");
  const open = shown !== undefined && shown.readings.length > 0;

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || !open) return;
    // The top layer: no panel cuts it off.
    element.showPopover();
    return () => element.hidePopover();
  }, [open]);

  if (!open) return null;
  const isPinned = pinned !== undefined;
  const found = isPinned
    ? shown.readings.filter(({ drawn }) => matches(drawn.line.name, search))
    : shown.readings;
  const { rows, before, after } = isPinned
    ? { rows: found.slice(0, PINNED_ROWS_MAX), before: 0, after: Math.max(0, found.length - PINNED_ROWS_MAX) }
    : rowsAround(
        found,
        found.findIndex(({ drawn }) => drawn.line.id === shown.near),
        ROWS_MAX,
      );
  const base = shown.readings.find(({ drawn }) => drawn.line.runId === baseline);
  return (
    <div
      id={id}
      ref={box}
      popover="manual"
      className={isPinned ? `${styles.tooltip} ${styles.pinned}` : styles.tooltip}
      style={placeNear(shown.clientX, shown.clientY, rows.length)}
      role={isPinned ? "dialog" : "tooltip"}
      aria-label={isPinned ? `Values at ${xText(xKind, shown.x, xName)}` : undefined}
      onKeyDown={(event) => event.key === "Escape" && onUnpin()}
    >
      <div className={styles.head}>
        <span className={styles.at}>{xText(xKind, shown.x, xName)}</span>
        <span>{smoothed ? "smoothed" : ""}</span>
        {isPinned && (
          <button type="button" className={styles.close} onClick={onUnpin} aria-label="Unpin">
            ✕
          </button>
        )}
      </div>
      {isPinned && (
        <input
          className={styles.search}
          type="search"
          placeholder="Find a run"
          aria-label="Find a run"
          // It was pinned by a click or a key, to be read.
          autoFocus
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      )}
      <div className={styles.rows}>
        {before > 0 && <div className={styles.more}>{before} above</div>}
        {rows.map((reading) => (
          <TooltipRow
            key={reading.drawn.line.id}
            reading={reading}
            near={reading.drawn.line.id === shown.near}
            base={base === reading ? undefined : base}
            {...(isPinned && {
              onHighlight: (on: boolean) => highlighted.set(on ? reading.drawn.line.runId : undefined),
            })}
          />
        ))}
        {after > 0 && <div className={styles.more}>{after} more</div>}
        {rows.length === 0 && <div className={styles.more}>No matches</div>}
      </div>
    </div>
  );
}

function TooltipRow({
  reading,
  near,
  base,
  onHighlight,
}: {
  reading: Reading;
  near: boolean;
  base: Reading | undefined;
  onHighlight?: (on: boolean) => void;
}) {
  const { line } = reading.drawn;
  const delta = base === undefined ? Number.NaN : reading.value - base.value;
  return (
    <div
      className={near ? `${styles.row} ${styles.near}` : styles.row}
      onPointerEnter={() => onHighlight?.(true)}
      onPointerLeave={() => onHighlight?.(false)}
    >
      <svg width="14" height="8" aria-hidden="true">
        <line
          x1="0"
          y1="4"
          x2="14"
          y2="4"
          stroke={line.colour}
          strokeWidth={line.bold === true ? 4 : 3}
          strokeDasharray={line.dash.join(" ")}
        />
      </svg>
      <span className={styles.name} title={line.name}>
        {line.name}
      </span>
      {Number.isFinite(delta) && (
        <span className={styles.delta}>
          {delta < 0 ? "−" : "+"}
          {formatNumber(Math.abs(delta), { digits: 5, even: true })}
        </span>
      )}
      <span className={styles.value} title={reading.text}>
        {reading.text ?? formatNumber(reading.value, { digits: 5, even: true })}
      </span>
    </div>
  );
}

function matches(name: string, search: string): boolean {
  return name.toLowerCase().includes(search.trim().toLowerCase());
}

function placeNear(clientX: number, clientY: number, rows: number) {
  const right = clientX + AWAY_PX + WIDTH_PX < innerWidth;
  const left = right ? clientX + AWAY_PX : Math.max(4, clientX - AWAY_PX - WIDTH_PX);
  // Head, search, and a line on either side for the rows left out.
  const heightPx = 108 + Math.min(rows, 14) * 22;
  const top = Math.max(4, Math.min(clientY - AWAY_PX, innerHeight - heightPx - 8));
  return { left, top, width: WIDTH_PX };
}
