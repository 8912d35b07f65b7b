import { printField } from "#lang/query/field-text.ts";
import { bestField, type KnownKeys } from "../../data/runs/known-keys.ts";
import type { RunFields } from "./answers/queries.ts";
import type { Objective } from "./objective/objective.ts";
import { NO_FIELD, type ExploreSearch, type FieldName } from "./search.ts";

const PARAM_AXES = 6;

/** The params that vary most, and the objective. */
export function defaultAxes(
  { params }: RunFields,
  objective: Objective | undefined,
  known: KnownKeys | undefined,
): string[] {
  const telling = params.filter(({ varies, variety }) => varies && variety > 0).slice(0, PARAM_AXES);
  const texts = telling.map(({ text }) => text);
  if (objective !== undefined) texts.push(objective.text);
  const others = (known?.metrics ?? [])
    .filter((key) => key !== objective?.key && !key.startsWith("system/"))
    .map((key) => printField(bestField(key, known)));
  // Where hardly any param varies, metrics are shown against each other.
  return [...new Set([...texts, ...others.slice(0, Math.max(0, 3 - texts.length))])];
}

/** The field of a view: the chosen one, or what the page proposes; undefined for none. */
export function fieldFor(
  search: ExploreSearch,
  name: FieldName,
  proposed: string | undefined,
): string | undefined {
  const chosen = search[name];
  return chosen === NO_FIELD ? undefined : (chosen ?? proposed);
}
