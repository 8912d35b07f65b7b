import { useVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, type ReactNode } from "react";
import { formatCount } from "#lang/words/numbers.ts";
import { ChevronDown, ChevronRight } from "../../widgets/icons/icons.ts";
import { Name } from "../../widgets/name.tsx";
import { CHART_HEIGHT_PX } from "./chart-card.tsx";
import styles from "./charts.module.css";
import type { Row, Section } from "./sections.ts";

const TITLE_PX = 32;
export const GAP_PX = 8;
export const CARD_PX = CHART_HEIGHT_PX + 44;

/** Virtual list of titles and charts: only visible and nearby ones exist. */
export function ChartRows({
  rows,
  columns,
  scroller,
  onToggle,
  children,
}: {
  rows: readonly Row[];
  columns: number;
  scroller: HTMLDivElement | null;
  onToggle: (section: Section) => void;
  children: (key: string) => ReactNode;
}) {
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller,
    estimateSize: (index) => (rows[index]!.kind === "title" ? TITLE_PX : CARD_PX + GAP_PX),
    overscan: 1,
  });
  // Sizes are computed, not measured: they change only with the rows.
  useLayoutEffect(() => virtual.measure(), [rows, virtual]);
  return (
    <div className={styles.rows} style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ index, start, size }) => {
        const row = rows[index];
        if (row === undefined) return null;
        const place = { top: start, height: size };
        return row.kind === "title" ? (
          <SectionTitle key={`title ${row.section.name}`} row={row} place={place} onToggle={onToggle} />
        ) : (
          <div
            key={`row ${row.keys[0]}`}
            className={styles.row}
            style={{ ...place, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
          >
            {row.keys.map((key) => children(key))}
          </div>
        );
      })}
    </div>
  );
}

function SectionTitle({
  row,
  place,
  onToggle,
}: {
  row: Extract<Row, { kind: "title" }>;
  place: { top: number; height: number };
  onToggle: (section: Section) => void;
}) {
  const { section, isFolded } = row;
  return (
    <h2 className={styles.title} style={place}>
      <button type="button" aria-expanded={!isFolded} onClick={() => onToggle(section)}>
        {isFolded ? <ChevronRight size={14} aria-hidden /> : <ChevronDown size={14} aria-hidden />}
        <Name text={section.name === "" ? "metrics" : section.name} />
        <span className={styles.count}>{formatCount(section.keys.length)}</span>
      </button>
    </h2>
  );
}
