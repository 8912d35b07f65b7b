import { useMemo } from "react";
import { startUs } from "#sdk/run-facts.ts";
import { colourAt, dashAt } from "../../charts/paint/palette.ts";
import { ChartsPanel } from "../../panels/charts/charts-panel.tsx";
import type { ChartSearchPatch } from "../../panels/charts/search.ts";
import type { PanelProps } from "./differences/differences-panel.tsx";
import { RunLegend } from "./run-legend.tsx";
import styles from "./run-legend.module.css";
import { readCompareSearch } from "./search.ts";
import { useDark } from "../../widgets/theme.ts";

/** The curves of all runs in the same charts, the baseline bold. */
export function ComparedCharts({ runs, order, search, onChange }: PanelProps) {
  const dark = useDark();
  const lines = useMemo(
    () =>
      runs.map((run) => {
        const { id, name } = run;
        const place = order.indexOf(id);
        return { id, name, colour: colourAt(place, dark), dash: dashAt(place), startUs: startUs(run) };
      }),
    [runs, order, dark],
  );
  const base = runs[0]!;
  return (
    <div className={styles.panel}>
      <RunLegend runs={lines} />
      <ChartsPanel
        runs={lines}
        namespace={base.namespace}
        baseline={base.id}
        search={search}
        onSearch={(patch: ChartSearchPatch, how) =>
          onChange(readCompareSearch({ ...search, ...patch }), how === "replace")
        }
      />
    </div>
  );
}
