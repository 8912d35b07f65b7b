import { useMemo } from "react";
import { rampColour } from "../../charts/paint/palette.ts";
import { Name } from "../../widgets/name.tsx";
import { figureText } from "./columns/brush-words.ts";
import { colourEnds } from "./explore-view.ts";
import type { ExploredColumn } from "./columns/explored-column.ts";
import styles from "./explore.module.css";
import type { Goal } from "./search.ts";

const STEPS = 24;

/** The legend of the colours of lines and points, from the worst on the left to the best on the right. */
export function ColourLegend({
  column,
  goal,
  dark,
  isJudged = false,
}: {
  column: ExploredColumn;
  goal: Goal;
  dark: boolean;
  /** Whether the right end is the best, and not only the highest. */
  isJudged?: boolean;
}) {
  const ends = useMemo(() => colourEnds(column), [column]);
  const low = `${ends.low > column.low ? "≤ " : ""}${figureText(ends.low)}`;
  const high = `${ends.high < column.high ? "≥ " : ""}${figureText(ends.high)}`;
  const [worst, best] = goal === "min" ? [high, low] : [low, high];
  return (
    <span className={styles.legend}>
      <Name text={column.label} />
      <span>{worst}</span>
      <span className={styles.ramp} aria-hidden>
        {Array.from({ length: STEPS }, (_, i) => (
          <span key={i} style={{ background: rampColour(i / (STEPS - 1), dark) }} />
        ))}
      </span>
      <span>{best}</span>
      {isJudged && <span className={styles.quiet}>best</span>}
    </span>
  );
}
