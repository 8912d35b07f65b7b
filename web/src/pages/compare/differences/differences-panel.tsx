import type { CompareRunsResponse } from "#proto/cairn/v1/explore_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { differs, metricName, partTitle, partWord } from "#sdk/comparison.ts";
import { downloadText } from "../../../widgets/download.ts";
import { Button } from "../../../widgets/button.tsx";
import { EmptyState } from "../../../widgets/notices/empty-state.tsx";
import { visibleText } from "../../../prepare/visible-text.ts";
import { TextField } from "../../../widgets/fields/text-field.tsx";
import { useTypedText } from "../../../widgets/fields/typed-text.ts";
import { compareCsv } from "./compare-csv.ts";
import table from "./compare-table.module.css";
import styles from "./differences-panel.module.css";
import { MetricSection } from "./metric-section.tsx";
import { RunHeads } from "./run-heads.tsx";
import { isOpen, withOpen, type CompareSearch } from "../search.ts";
import { SectionRows } from "./section-rows.tsx";

export interface PanelProps {
  /** The baseline first. */
  runs: readonly Run[];
  /** Ids as in the address; colours follow it. */
  order: readonly string[];
  search: CompareSearch;
  /** Goes to another address; `replace` without a step for Back. */
  onChange: (search: CompareSearch, replace?: boolean) => void;
}

/** One table of all properties of runs: a column per run, a part per kind, and differences first. */
export function DifferencesPanel({
  compared,
  order,
  search,
  onChange,
}: Omit<PanelProps, "runs"> & { compared: CompareRunsResponse }) {
  const { runs, parts, metrics } = compared;
  const field = useTypedText(search.find ?? "", (text) => {
    const { find: _, ...rest } = search;
    onChange(text === "" ? rest : { ...rest, find: text }, true);
  });
  const find = (search.find ?? "").toLowerCase();
  const isFound =
    metrics.some((metric) => metricName(metric).toLowerCase().includes(find)) ||
    parts.some(({ rows }) => rows.some(({ key }) => key.toLowerCase().includes(find)));
  const showsAll = isOpen(search, "all");
  const counts = [
    { id: "metrics", title: "Metrics", count: metrics.filter((row) => row.differs).length },
    ...parts.map((part) => ({
      id: partWord(part),
      title: partTitle(part),
      count: part.rows.filter(differs).length,
    })),
  ].filter(({ count }) => count > 0);
  return (
    <div className={styles.panel}>
      <div className={styles.bar}>
        <TextField label="Find a key" placeholder="Find a key…" type="search" {...field} quiet />
        {runs.length > 1 && (
          <Button aria-pressed={!showsAll} onClick={() => onChange(withOpen(search, "all", !showsAll))}>
            Only differences
          </Button>
        )}
        <Button onClick={() => downloadText("comparison.csv", "text/csv", compareCsv(compared))}>CSV</Button>
        {runs.length > 1 && <Jumps counts={counts} />}
      </div>
      <div className={table.scroll} tabIndex={0} role="region" aria-label="Comparison">
        <table className={table.table} style={{ minWidth: KEY_PX + runs.length * RUN_PX_MIN }}>
          <caption className="unseen">What runs have, one column per run, the baseline first</caption>
          <colgroup>
            <col style={{ width: KEY_PX }} />
            {runs.map(({ id }) => (
              <col key={id} />
            ))}
          </colgroup>
          <RunHeads runs={runs} order={order} search={search} onChange={onChange} />
          <MetricSection compared={compared} find={find} search={search} onChange={onChange} />
          {parts.map((part) => (
            <SectionRows
              key={part.part}
              part={part}
              compared={compared}
              find={find}
              search={search}
              onChange={onChange}
            />
          ))}
        </table>
        {find !== "" && !isFound && (
          <EmptyState title="No matches">
            <p>No key contains “{visibleText(find)}”.</p>
          </EmptyState>
        )}
      </div>
    </div>
  );
}

const KEY_PX = 220;
const RUN_PX_MIN = 190;

function Jumps({ counts }: { counts: readonly { id: string; title: string; count: number }[] }) {
  return (
    <nav className={styles.jumps} aria-label="Parts that differ">
      {counts.length === 0 && "Nothing differs."}
      {counts.map(({ id, title, count }) => (
        <button
          key={id}
          type="button"
          className={styles.jump}
          onClick={() => document.querySelector(`#part-${id}`)?.scrollIntoView({ block: "start" })}
        >
          {title} <b>{count}</b>
        </button>
      ))}
    </nav>
  );
}
