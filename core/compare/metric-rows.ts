import { limits } from "#lang/limits.ts";
import { isSystemMetric, seriesName } from "#lang/metric-key.ts";
import { compareNames } from "#lang/words/names.ts";
import type { SeriesInfo } from "../types/series.ts";
import type { MetricMeaning } from "../objective/metric-keys.ts";
import { compareMetrics, type ComparedMetric, type ComparedStat } from "./metrics.ts";

const ROWS_MAX = limits.comparedMetricsMax;

interface Kept {
  rows: ComparedMetric[];
  equalCount: number;
}

/** The compared metrics of all parts, as many as an answer may have: the objective first, system metrics last. */
export class MetricRows {
  readonly #meaning: MetricMeaning;
  readonly #stats: readonly ComparedStat[];
  readonly #onlyDifferent: boolean;
  /** Of the objective, of others, and of the system. */
  readonly #kept: Kept[] = Array.from({ length: 3 }, () => ({ rows: [], equalCount: 0 }));
  #isCut = false;

  constructor(meaning: MetricMeaning, stats: readonly ComparedStat[], onlyDifferent: boolean) {
    this.#meaning = meaning;
    this.#stats = stats;
    this.#onlyDifferent = onlyDifferent;
  }

  /** Some series, of each run all that have one of these names. */
  add(part: readonly (readonly SeriesInfo[])[]): void {
    for (const row of compareMetrics(part, this.#meaning, this.#stats)) {
      const kept = this.#kept[row.isObjective ? 0 : isSystemMetric(row.key) ? 2 : 1]!;
      if (this.#onlyDifferent && !row.differs) kept.equalCount++;
      else if (kept.rows.length < ROWS_MAX) kept.rows.push(row);
      else this.#isCut = true;
    }
  }

  /** Not all series were added. */
  cut(): void {
    this.#isCut = true;
  }

  forgetObjective(): void {
    this.#kept[0] = { rows: [], equalCount: 0 };
  }

  /** Rows that were left out because all runs are the same. */
  get equalCount(): number {
    return this.#kept.reduce((sum, { equalCount }) => sum + equalCount, 0);
  }

  get isCut(): boolean {
    return this.#isCut || this.#kept.reduce((sum, { rows }) => sum + rows.length, 0) > ROWS_MAX;
  }

  sorted(): ComparedMetric[] {
    return this.#kept.flatMap(({ rows }) => sortedByName(rows)).slice(0, ROWS_MAX);
  }
}

function sortedByName(rows: readonly ComparedMetric[]): ComparedMetric[] {
  const named = rows.map((row) => ({ row, name: seriesName(row.key, row.labels) }));
  return named.sort((a, b) => compareNames(a.name, b.name)).map(({ row }) => row);
}
