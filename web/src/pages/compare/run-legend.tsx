import { Link } from "@tanstack/react-router";
import { highlightedRun } from "../../charts/highlighted-run.ts";
import { Name } from "../../widgets/name.tsx";
import type { ChartRun } from "../../panels/charts/lines/chart-lines.ts";
import styles from "./run-legend.module.css";

/** The legend of the runs; the one under the pointer, or in focus, is highlighted in every chart. */
export function RunLegend({ runs }: { runs: readonly ChartRun[] }) {
  return (
    <ul className={styles.legend} aria-label="Runs">
      {runs.map(({ id, name, colour, dash }, i) => (
        <li
          key={id}
          onPointerEnter={() => highlightedRun.set(id)}
          onPointerLeave={() => highlightedRun.set(undefined)}
          onFocus={() => highlightedRun.set(id)}
          onBlur={() => highlightedRun.set(undefined)}
        >
          <svg width="18" height="8" aria-hidden>
            <line
              x1="0"
              x2="18"
              y1="4"
              y2="4"
              stroke={colour}
              strokeWidth={i === 0 ? 4 : 2}
              strokeDasharray={dash.join(" ")}
            />
          </svg>
          <Link to="/r/$run" params={{ run: id }} className={styles.name}>
            <Name text={name} />
          </Link>
          {i === 0 && <span className={styles.base}>baseline</span>}
        </li>
      ))}
    </ul>
  );
}
