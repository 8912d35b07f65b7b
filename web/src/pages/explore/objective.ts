import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import type { MetricStat } from "#lang/query/ast.ts";
import { findField, printField } from "#lang/query/field-text.ts";
import type { KnownKeys } from "../runs/infer-keys.ts";
import type { Goal } from "./pareto.ts";
import type { ExploreSearch } from "./search.ts";

/** What runs are judged by here. */
export interface Objective {
  /** The field as text, such as metrics.val/wer.min. */
  readonly text: string;
  /** Of the metric. */
  readonly key: string;
  readonly goal: Goal;
}

/** The one in the address, or that of the namespace; undefined when there is none. */
export function objectiveOf(
  { objective, goal }: Pick<ExploreSearch, "objective" | "goal">,
  known: Pick<KnownKeys, "objective" | "directions"> | undefined,
): Objective | undefined {
  const field = objective === undefined ? undefined : findField(objective);
  if (field?.of === "metric") {
    return { text: objective!, key: field.key, goal: goal ?? goalOf(field.key, field.stat, known) ?? "min" };
  }
  if (known?.objective === undefined) return undefined;
  const { metric: key, isMinimized } = known.objective;
  const own: Goal = isMinimized ? "min" : "max";
  return { text: printField({ of: "metric", key, stat: own }), key, goal: goal ?? own };
}

/** Which way a metric is better: as it is described, or as the namespace's objective has it. */
export function goalOf(
  key: string,
  stat: MetricStat,
  known: Pick<KnownKeys, "objective" | "directions"> | undefined,
): Goal | undefined {
  const direction = known?.directions.get(key);
  if (direction === Direction.MINIMIZE) return "min";
  if (direction === Direction.MAXIMIZE) return "max";
  if (known?.objective?.metric === key) return known.objective.isMinimized ? "min" : "max";
  // Somebody who asks for the smallest value wants it small.
  return stat === "min" || stat === "max" ? stat : undefined;
}

/** The summary of a metric that is worth looking at first. */
export function bestStat(key: string, known: Pick<KnownKeys, "objective" | "directions">): MetricStat {
  return goalOf(key, "last", known) ?? "last";
}
