import { useMemo, useSyncExternalStore } from "react";
import { highlightedRun } from "../../charts/highlighted-run.ts";
import { Name } from "../../widgets/name.tsx";
import { placeWords } from "./columns/brush-words.ts";
import type { ExploredColumn } from "./columns/explored-column.ts";
import type { ExploredTable } from "./columns/explored-table.ts";
import styles from "./picture.module.css";

const NAMED_MAX = 10;
const CARD_PX = 220;

/** Finds the index of a run; undefined if it is none of these. */
export function useRowOf(table: ExploredTable): (runId: string) => number | undefined {
  return useMemo(() => {
    const places = new Map(table.runs.map(({ id }, i) => [id, i]));
    return (runId) => places.get(runId);
  }, [table]);
}

/** The index of the highlighted run; -1 if it is none of these. */
export function useHighlightedRow(table: ExploredTable): number {
  const rowOf = useRowOf(table);
  const id = useSyncExternalStore(highlightedRun.subscribe, highlightedRun.get);
  return id === undefined ? -1 : (rowOf(id) ?? -1);
}

/** Shows the name and values of the run under the pointer. */
export function HighlightedCard({
  table,
  row,
  columns,
  x,
  y,
  width,
}: {
  table: ExploredTable;
  row: number;
  columns: readonly ExploredColumn[];
  x: number;
  y: number;
  /** The width of the picture: near its right edge the card is on the other side. */
  width: number;
}) {
  const run = table.runs[row]!;
  return (
    <div
      className={styles.card}
      style={{
        left: x + CARD_PX + 32 > width ? Math.max(0, x - CARD_PX - 16) : x + 16,
        top: y + 12,
        width: CARD_PX,
      }}
    >
      <b>
        <Name text={run.name || run.id} />
      </b>
      <dl>
        {columns.slice(0, NAMED_MAX).map((column) => (
          <div key={column.text}>
            <dt>
              <Name text={column.label} />
            </dt>
            <dd>
              <Name text={placeWords(column, row)} />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
