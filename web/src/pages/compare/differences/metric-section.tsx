import type { ComparedMetric, ComparedValue, CompareRunsResponse } from "#proto/cairn/v1/explore_pb.ts";
import { metricName, verdictWord } from "#sdk/comparison.ts";
import { betterWords } from "#lang/words/directions.ts";
import { formatNumber, formatPercentChange } from "#lang/words/numbers.ts";
import { bestStat } from "#sdk/direction.ts";
import { ArrowDown, ArrowUp, Target } from "../../../widgets/icons/icons.ts";
import { Name } from "../../../widgets/name.tsx";
import { Select } from "../../../widgets/fields/select.tsx";
import styles from "./compare-table.module.css";
import { FoldedRows } from "./folded-rows.tsx";
import { METRIC_STATS, type MetricStat } from "./metric-stat.ts";
import type { CompareSearch } from "../search.ts";
import { SectionHead } from "./section-head.tsx";

const STAT_CHOICES = METRIC_STATS.map((value) => ({ value, label: value }));

interface MetricSectionProps {
  compared: CompareRunsResponse;
  find: string;
  search: CompareSearch;
  onChange: (search: CompareSearch) => void;
}

/** One number per metric and run, and how far it is from the baseline. */
export function MetricSection({ compared, find, search, onChange }: MetricSectionProps) {
  const { runs, metrics, equalMetrics, metricsTruncated } = compared;
  const found = metrics.filter((metric) => metricName(metric).toLowerCase().includes(find));
  if (found.length === 0) return null;
  const different = found.filter((row) => row.differs);
  return (
    <tbody id="part-metrics" className={styles.section}>
      <SectionHead title="Metrics" different={different.length} runs={runs.length}>
        <Select<MetricStat>
          label="Value"
          value={search.stat ?? "best"}
          choices={STAT_CHOICES}
          onChange={(stat) => {
            const { stat: _, ...rest } = search;
            onChange(stat === "best" ? rest : { ...rest, stat });
          }}
        />
        {metricsTruncated && <span className={styles.count}>some run has more metrics than are shown</span>}
      </SectionHead>
      <FoldedRows
        id="metrics"
        different={different}
        equal={found.filter((row) => !row.differs)}
        leftOut={Number(equalMetrics)}
        isFlat={find !== "" || runs.length === 1}
        columns={runs.length + 1}
        search={search}
        onChange={onChange}
      >
        {(row) => <Metric key={metricName(row)} row={row} />}
      </FoldedRows>
    </tbody>
  );
}

function Metric({ row }: { row: ComparedMetric }) {
  const { unit, stat, direction, isObjective, values } = row;
  return (
    <tr className={row.differs ? undefined : styles.equal}>
      <th scope="row" className={styles.key}>
        {isObjective && <Target size={13} className={styles.objective} role="img" aria-label="objective" />}
        <Name text={metricName(row)} />
        <span
          className={styles.hint}
          title={[unit, betterWords(bestStat(direction))].filter((word) => word !== "").join(", ")}
        >
          {stat}
        </span>
      </th>
      {values.map((value, i) => (
        <td key={i} className={i === 0 ? `${styles.cell} ${styles.base}` : styles.cell}>
          {value.value === undefined ? (
            <span className={styles.none} title="not logged">
              —
            </span>
          ) : (
            <Figure value={value.value} reached={value} />
          )}
        </td>
      ))}
    </tr>
  );
}

function Figure({ value, reached }: { value: number; reached: ComparedValue }) {
  const { step, best, difference } = reached;
  return (
    <span className={styles.figure} title={`${value}${step === undefined ? "" : ` at step ${step}`}`}>
      <span className={best ? styles.best : undefined}>{formatNumber(value, { even: true })}</span>
      {best && <span className="unseen">best</span>}
      {difference !== undefined && difference !== 0 && (
        <DeltaMark difference={difference} reached={reached} />
      )}
    </span>
  );
}

function DeltaMark({ difference, reached }: { difference: number; reached: ComparedValue }) {
  const Arrow = difference > 0 ? ArrowUp : ArrowDown;
  const verdict = verdictWord(reached);
  const signed = `${difference > 0 ? "+" : ""}${formatNumber(difference)}`;
  return (
    <span
      className={`${styles.delta} ${styles[verdict ?? "neutral"]}`}
      title={`${signed} against the baseline`}
    >
      <Arrow size={12} aria-hidden />
      {formatPercentChange(reached.share) ?? signed}
      {verdict !== undefined && <span className="unseen">{verdict}</span>}
    </span>
  );
}
