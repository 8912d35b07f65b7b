import { seriesName } from "#lang/metric-key.ts";
import { wordOf } from "#lang/words/enums.ts";
import {
  Part,
  Verdict,
  type ComparedMetric,
  type ComparedPart,
  type ComparedValue,
} from "#proto/cairn/v1/explore_pb.ts";

/** One property of runs, with the value of each run; undefined where a run has none. */
export interface DiffRow {
  key: string;
  values: (string | undefined)[];
  differs: boolean;
}

export function diffRows({ rows }: ComparedPart): DiffRow[] {
  return rows.map(({ key, texts, text, meaning }) => ({
    key,
    values: text.map((number) => texts[number - 1]),
    differs: meaning.some((number) => number !== 0),
  }));
}

export function partWord({ part }: ComparedPart): string {
  return wordOf(Part, part);
}

export function metricName({ key, labels }: ComparedMetric): string {
  return seriesName(key, Object.entries(labels));
}

/** undefined if unknown. */
export function verdictWord({ verdict }: ComparedValue): "better" | "worse" | undefined {
  if (verdict === Verdict.BETTER) return "better";
  return verdict === Verdict.WORSE ? "worse" : undefined;
}
