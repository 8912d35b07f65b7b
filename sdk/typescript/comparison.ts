/** Reads the answer of CompareRuns. */
import { seriesName } from "#lang/metric-key.ts";
import { wordOf } from "#lang/words/enums.ts";
import {
  Part,
  Verdict,
  type ComparedMetric,
  type ComparedPart,
  type ComparedRow,
  type ComparedValue,
} from "#proto/cairn/v1/explore_pb.ts";

/** The value of each run; undefined where a run has none. */
export function textsOf({ texts, text }: ComparedRow): (string | undefined)[] {
  return text.map((number) => texts[number - 1]);
}

export function differs({ meaning }: ComparedRow): boolean {
  return meaning.some((number) => number !== 0);
}

export function partWord({ part }: ComparedPart): string {
  return wordOf(Part, part);
}

export function partTitle(part: ComparedPart): string {
  const word = partWord(part);
  return word[0]!.toUpperCase() + word.slice(1);
}

/** With its labels. */
export function metricName({ key, labels }: ComparedMetric): string {
  return seriesName(key, Object.entries(labels));
}

/** undefined if unknown. */
export function verdictWord({ verdict }: ComparedValue): "better" | "worse" | undefined {
  if (verdict === Verdict.BETTER) return "better";
  return verdict === Verdict.WORSE ? "worse" : undefined;
}

const COMMIT = /^[0-9a-f]{40}$/;
const COMMIT_SHOWN = 12;

/** The beginning of a commit; any other value unchanged. */
export function shortCommit(text: string): string {
  return COMMIT.test(text) ? text.slice(0, COMMIT_SHOWN) : text;
}
