import { findField } from "#lang/query/field-text.ts";
import { goalOf } from "../objective/objective.ts";
import type { ExploredColumn } from "../columns/explored-column.ts";
import type { ExploreViewProps } from "../explore-view.ts";
import { defaultAxes, fieldFor } from "../default-fields.ts";
import type { Goal } from "../search.ts";

export interface ScatterFields {
  readonly x: ExploredColumn | undefined;
  readonly y: ExploredColumn | undefined;
  readonly colour: ExploredColumn | undefined;
  readonly size: ExploredColumn | undefined;
  /** Which way x and y are better; undefined if unknown. */
  readonly goals: readonly [Goal | undefined, Goal | undefined];
  readonly colourGoal: Goal;
}

/** The fields of the scatter: from the address, or the default of the page. */
export function scatterFields({ table, listed, known, search, objective }: ExploreViewProps): ScatterFields {
  const proposed = defaultAxes(listed, objective, known);
  const params = proposed.filter((text) => findField(text)?.of === "param");
  const metrics = proposed.filter((text) => findField(text)?.of === "metric");
  const y = fieldFor(search, "y", objective?.text ?? metrics[0] ?? params[1]);
  const x = fieldFor(search, "x", params[0] ?? metrics.find((text) => text !== y));
  const colour = fieldFor(search, "colour", params.find((text) => text !== x) ?? objective?.text);
  const size = fieldFor(search, "size", undefined);
  const columnOf = (text: string | undefined) => (text === undefined ? undefined : table.column(text));
  const goalFor = (column: ExploredColumn | undefined, said: Goal | "none" | undefined): Goal | undefined => {
    if (said !== undefined) return said === "none" ? undefined : said;
    if (column === undefined || column.field.of !== "metric") return undefined;
    return column.text === objective?.text ? objective.goal : goalOf(column.field, known);
  };
  const [xColumn, yColumn] = [columnOf(x), columnOf(y)];
  return {
    x: xColumn,
    y: yColumn,
    colour: columnOf(colour),
    size: columnOf(size),
    goals: [goalFor(xColumn, search.goalx), goalFor(yColumn, search.goaly)],
    colourGoal: colour !== undefined && colour === objective?.text ? objective.goal : "max",
  };
}
