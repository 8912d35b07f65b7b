import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import type { MetricStat } from "#lang/query/ast.ts";
import { findField } from "#lang/query/field-text.ts";
import { directionOf, type KnownKeys } from "../../../data/runs/known-keys.ts";
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
  const field = objective === undefined ? undefined : findField(objective);
  if (field?.of === "metric") {
    return { text: objective!, key: field.key, goal: goal ?? goalOf(field.key, field.stat, known) ?? "min" };
  }
  const held = known?.objective;
  return held && { text: held.field, key: held.metric, goal: goal ?? goalIn(held.direction) };
}

/** The direction of a metric: from its description, else from the objective, else from its statistic. */
export function goalOf(key: string, stat: MetricStat, known: Known): Goal | undefined {
  const direction = directionOf(key, known);
  if (direction !== undefined) return goalIn(direction);
  // The smallest value implies that lower is better.
  return stat === "min" || stat === "max" ? stat : undefined;
}

function goalIn(direction: Direction): Goal {
  return direction === Direction.MINIMIZE ? "min" : "max";
}

/** The summary of a metric that is worth looking at first. */
export function bestStat(key: string, known: Known): MetricStat {
  return goalOf(key, "last", known) ?? "last";
}
