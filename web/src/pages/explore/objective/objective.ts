import type { MetricField } from "#lang/query/ast.ts";
import { findField } from "#lang/query/field-text.ts";
import { bestField, type KnownKeys } from "../../../data/runs/known-keys.ts";
import type { ExploreSearch, Goal } from "../search.ts";

/** The objective of this page. */
export interface Objective {
  /** The field as text, such as metrics.val/wer.min. */
  readonly text: string;
  /** Of the metric. */
  readonly key: string;
  readonly goal: Goal;
}

type Known = Pick<KnownKeys, "objective" | "directions"> | undefined;

/** The one in the address, or that of the namespace; undefined when there is none. */
export function objectiveOf(
  { objective, goal }: Pick<ExploreSearch, "objective" | "goal">,
  known: Known,
): Objective | undefined {
  for (const text of [objective, known?.objective?.field]) {
    const field = text === undefined ? undefined : findField(text);
    if (field?.of !== "metric") continue;
    return { text: text!, key: field.key, goal: goal ?? goalOf(field, known) ?? "min" };
  }
  return undefined;
}

/** The direction of a metric, else the one that its statistic implies. */
export function goalOf({ key, stat }: MetricField, known: Known): Goal | undefined {
  return [bestField(key, known).stat, stat].find((each) => each === "min" || each === "max");
}
