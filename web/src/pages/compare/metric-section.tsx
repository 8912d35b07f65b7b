import { ArrowDown, ArrowUp, Target } from "lucide-react";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { ErrorNote } from "../../widgets/error-note.tsx";
import { formatNumber } from "#lang/words/numbers.ts";
import { Name } from "../../widgets/name.tsx";
import { Select } from "../../widgets/select.tsx";
import { Skeleton } from "../../widgets/skeleton.tsx";
import type { Delta, MetricCell, MetricRow } from "./compare-metrics.ts";
import styles from "./compare-table.module.css";
import { FoldedRows } from "./folded-rows.tsx";
import { formatDelta } from "./format-delta.ts";
import { METRIC_STATS, type MetricStat } from "./metric-stat.ts";
import type { CompareSearch } from "./search.ts";
import { SectionHead } from "./section-head.tsx";
import type { ComparedSeries } from "./use-comparison.ts";

const STAT_CHOICES = METRIC_STATS.map((value) => ({ value, label: value }));

interface MetricSectionProps {
  rows: readonly MetricRow[];
  compared: ComparedSeries;
  find: string;
  runs: readonly Run[];
  search: CompareSearch;
  onChange: (search: CompareSearch) => void;
}

/** One number per metric and run, and how far it is from the baseline. */
export function MetricSection({ rows, compared, find, runs, search, onChange }: MetricSectionProps) {
  const columns = runs.length + 1;
  const found = rows.filter(({ name }) => name.toLowerCase().includes(find));
  if (found.length === 0 && !compared.isPending && compared.error === undefined) return null;
  const different = found.filter((row) => row.differs);
  return (
    <tbody id="part-metrics" className={styles.section}>
      <SectionHead title="Metrics" different={different.length} runs={compared.isPending ? 1 : runs.length}>
        <Select<MetricStat>
          label="Value"
          value={search.stat ?? "best"}
          choices={STAT_CHOICES}
          onChange={(stat) => {
            const { stat: _, ...rest } = search;
            onChange(stat === "best" ? rest : { ...rest, stat });
          }}
        />
        {compared.hasMore && <span className={styles.count}>some run has more metrics than are shown</span>}
      </SectionHead>
      {compared.error !== undefined && (
        <tr>
          <td colSpan={columns}>
            <ErrorNote error={compared.error} />
          </td>
        </tr>
      )}
      {compared.isPending ? (
        <tr>
          <td colSpan={columns}>
            <Skeleton lines={5} />
          </td>
        </tr>
      ) : (
        <FoldedRows
          id="metrics"
          different={different}
          equal={found.filter((row) => !row.differs)}
          isFlat={find !== "" || runs.length === 1}
          columns={columns}
          search={search}
          onChange={onChange}
        >
          {(row) => <Metric key={row.name} row={row} />}
        </FoldedRows>
      )}
    </tbody>
  );
}

function Metric({ row }: { row: MetricRow }) {
  const { name, unit, stat, direction, isObjective, cells } = row;
  const better =
    direction === Direction.MINIMIZE
      ? "lower is better"
      : direction === Direction.MAXIMIZE
        ? "higher is better"
        : "";
  return (
    <tr className={row.differs ? undefined : styles.equal}>
      <th scope="row" className={styles.key}>
        {isObjective && <Target size={13} className={styles.objective} role="img" aria-label="objective" />}
        <Name text={name} />
        <span className={styles.hint} title={[unit, better].filter((word) => word !== "").join(", ")}>
          {stat}
        </span>
      </th>
      {cells.map((cell, i) => (
        <td key={i} className={i === 0 ? `${styles.cell} ${styles.base}` : styles.cell}>
          {cell === undefined ? (
            <span className={styles.none} title="not logged">
              —
            </span>
          ) : (
            <Figure cell={cell} />
          )}
        </td>
      ))}
    </tr>
  );
}

function Figure({ cell: { value, step, best, delta } }: { cell: MetricCell }) {
  return (
    <span className={styles.figure} title={`${value}${step === undefined ? "" : ` at step ${step}`}`}>
      <span className={best ? styles.best : undefined}>{formatNumber(value, { even: true })}</span>
      {best && <span className="unseen">best</span>}
      {delta !== undefined && delta.difference !== 0 && <DeltaMark delta={delta} />}
    </span>
  );
}

function DeltaMark({ delta }: { delta: Delta }) {
  const Arrow = delta.difference > 0 ? ArrowUp : ArrowDown;
  return (
    <span
      className={`${styles.delta} ${styles[delta.verdict]}`}
      title={`${formatNumber(delta.difference)} against the baseline`}
    >
      <Arrow size={12} aria-hidden />
      {formatDelta(delta)}
      {delta.verdict !== "neutral" && <span className="unseen">{delta.verdict}</span>}
    </span>
  );
}
