import { useState, type ReactNode } from "react";
import { formatCount } from "#lang/words/numbers.ts";
import { ChevronDown, ChevronRight } from "../../../widgets/icons/icons.ts";
import styles from "./compare-table.module.css";
import { isOpen, withOpen, type CompareSearch } from "../search.ts";

/** Rows drawn at once. A run may have 10,000 params and 12,000 metrics. */
const ROWS_STEP = 200;

interface FoldedRowsProps<Row> {
  id: string;
  different: readonly Row[];
  equal: readonly Row[];
  /** The number of equal rows that were not sent, because there are too many. */
  leftOut: number;
  /** Do not fold: a key is searched, or there is only one run. */
  isFlat: boolean;
  columns: number;
  search: CompareSearch;
  onChange: (search: CompareSearch) => void;
  children: (row: Row) => ReactNode;
}

/** Differences first; equal rows behind a line that unfolds them. */
export function FoldedRows<Row>(props: FoldedRowsProps<Row>) {
  const { id, different, equal, leftOut, isFlat, columns, search, onChange, children } = props;
  const [shown, setShown] = useState(ROWS_STEP);
  const isForced = isFlat || isOpen(search, "all");
  const isUnfolded = isForced || isOpen(search, id);
  const rows = isUnfolded ? [...different, ...equal] : different;
  const left = rows.length - shown;
  const canFold = !isForced && equal.length > 0;
  return (
    <>
      {rows.slice(0, Math.min(shown, different.length)).map(children)}
      {canFold && (
        <tr>
          <td colSpan={columns} className={styles.fold}>
            <button
              type="button"
              aria-expanded={isUnfolded}
              onClick={() => onChange(withOpen(search, id, !isUnfolded))}
            >
              {isUnfolded ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
              {formatCount(equal.length)} equal
            </button>
          </td>
        </tr>
      )}
      {leftOut > 0 && (
        <tr>
          <td colSpan={columns} className={styles.fold}>
            {formatCount(leftOut)} more that are equal: compare fewer runs to see them.
          </td>
        </tr>
      )}
      {rows.slice(different.length, Math.max(shown, different.length)).map(children)}
      {left > 0 && (
        <tr>
          <td colSpan={columns} className={styles.fold}>
            <button type="button" onClick={() => setShown(shown + ROWS_STEP)}>
              Show {formatCount(Math.min(left, ROWS_STEP))} more of {formatCount(left)}
            </button>
          </td>
        </tr>
      )}
    </>
  );
}
