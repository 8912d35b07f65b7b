import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { formatCount, formatNumber } from "#lang/words/numbers.ts";
import { cutText, visibleText } from "../../../prepare/visible-text.ts";
import { ChevronDown, ChevronRight, Eye, EyeOff } from "../../../widgets/icons/icons.ts";
import { aggregate, type Item } from "./grouping.ts";
import type { Column } from "./layout.ts";
import type { RowPlace } from "./run-row.tsx";
import type { RowActions } from "./run-table.tsx";
import styles from "./run-table.module.css";

interface GroupRowProps extends RowPlace {
  item: Item & { kind: "group" };
  selected: ReadonlySet<string>;
  colourOf: (run: Run) => string | undefined;
  actions: RowActions;
}

const INDENT = 12;
const LABEL_LENGTH_MAX = 300;

/** A group: its name and size, and the mean of its runs in every column of numbers. */
export function GroupRow({
  id,
  index,
  isCurrent,
  template,
  columns,
  top,
  nowMs,
  item,
  selected,
  colourOf,
  actions,
  onCurrent,
}: GroupRowProps) {
  const { group, isOpen } = item;
  const label = visibleText(cutText(group.label, LABEL_LENGTH_MAX));
  const isSelected = group.runs.every((run) => selected.has(run.id));
  const names = [styles.row, styles.group, isCurrent && styles.current];
  const shown = group.runs.find((run) => colourOf(run) !== undefined);
  // The name spans the columns up to the first number.
  const first = columns.findIndex(({ field }) => field.of === "metric");
  const span = first < 1 ? columns.length : first;
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      aria-level={group.depth + 1}
      aria-expanded={isOpen}
      className={names.filter(Boolean).join(" ")}
      style={{ gridTemplateColumns: template, transform: `translateY(${top}px)` }}
      onClick={onCurrent}
    >
      <div role="gridcell" className={`${styles.lead} ${styles.pinned}`}>
        <input
          type="checkbox"
          tabIndex={-1}
          checked={isSelected}
          aria-label={`Select the runs of ${label}`}
          onChange={(event) => actions.selectGroup(group, event.target.checked)}
        />
        <button
          type="button"
          tabIndex={-1}
          className={styles.eye}
          aria-pressed={shown !== undefined}
          aria-label={`Show ${label} in charts`}
          onClick={() => actions.toggleGroupEye(group)}
        >
          {shown === undefined ? <EyeOff size={14} aria-hidden /> : <Eye size={14} aria-hidden />}
        </button>
        <span
          className={styles.swatch}
          style={{ background: group.inner.length === 0 && shown ? colourOf(shown) : undefined }}
          aria-hidden
        />
      </div>
      {columns.map((column, i) =>
        i === 0 ? (
          <div
            key={column.text}
            role="gridcell"
            className={`${styles.cell} ${styles.pinned} ${styles.groupName}`}
            style={{
              left: column.stickyLeft,
              paddingLeft: group.depth * INDENT,
              gridColumn: `2 / span ${span}`,
            }}
          >
            <Fold item={item} label={label} onFold={() => actions.fold(group)} />
          </div>
        ) : i < span ? null : (
          <Mean key={column.text} column={column} item={item} nowMs={nowMs} />
        ),
      )}
    </div>
  );
}

function Fold({
  item: { group, isOpen },
  label,
  onFold,
}: Pick<GroupRowProps, "item"> & { label: string; onFold: () => void }) {
  return (
    <button type="button" tabIndex={-1} className={styles.fold} title={label} onClick={onFold}>
      {isOpen ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
      <b className={styles.cut}>{label}</b>
      <span className={styles.size}>{formatCount(group.runs.length)}</span>
    </button>
  );
}

function Mean({ column, item, nowMs }: { column: Column; item: Item & { kind: "group" }; nowMs: number }) {
  const { field, stickyLeft } = column;
  const names = [styles.cell, styles.numeric, stickyLeft !== undefined && styles.pinned];
  const { runs } = item.group;
  const found = field.of === "metric" ? aggregate(runs, field, nowMs) : undefined;
  const words =
    found &&
    `mean of ${found.count} of ${runs.length} runs${Number.isNaN(found.std) ? "" : ", ± standard deviation"}`;
  return (
    <div
      role="gridcell"
      className={names.filter(Boolean).join(" ")}
      style={{ left: stickyLeft }}
      title={words}
    >
      {found && (
        <span className={styles.cut}>
          {formatNumber(found.mean, { even: true })}
          {!Number.isNaN(found.std) && <span className={styles.std}> ± {formatNumber(found.std)}</span>}
        </span>
      )}
    </div>
  );
}
