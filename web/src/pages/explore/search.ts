import { limits } from "#lang/limits.ts";
import { findField } from "#lang/query/field-text.ts";
import type { ScaleKind } from "./columns/axis.ts";
import { isEmptyBrush, type Brush } from "./columns/brush.ts";

/** Which way is better: low or high. */
const GOALS = ["min", "max"] as const;
export type Goal = (typeof GOALS)[number];

export const EXPLORE_TABS = ["parallel", "scatter", "importance", "facets"] as const;
export type ExploreTab = (typeof EXPLORE_TABS)[number];

/** Fields that a view has one of. "none" is a choice, too: absent means the default of the page. */
export const FIELD_NAMES = ["x", "y", "colour", "size", "rows", "cols", "hue", "dash"] as const;
export type FieldName = (typeof FIELD_NAMES)[number];
export const NO_FIELD = "none";

/** The parameters of the address of the explore page. Everything is optional; invalid values are ignored. */
export interface ExploreSearch extends Partial<Record<FieldName, string>> {
  /** In the query language. */
  q?: string;
  tab?: ExploreTab;
  /** The field of the objective, and its direction; absent for the namespace's. */
  objective?: string;
  goal?: Goal;
  /** Axes of the parallel coordinates, from left to right. */
  axes?: string[];
  /** Axes that differ from the default, by field. */
  scale?: Record<string, ScaleKind>;
  /** The filters, by field. */
  brush?: Record<string, Brush>;
  /** Which way x and y of the scatter are better. */
  goalx?: Goal | "none";
  goaly?: Goal | "none";
  /** The metric whose curves the cells of the grid show. */
  metric?: string;
  cell?: "strips";
  /** The figures are shown, too. */
  table?: true;
}

/** Undefined removes a parameter. */
export type ExplorePatch = { [Name in keyof ExploreSearch]?: ExploreSearch[Name] | undefined };

const TEXT_MAX = 2_000;
export const AXES_MAX = 24;
const BRUSHES_MAX = 40;
const KEYS_MAX = 1_000;

export function readExploreSearch(given: Record<string, unknown>): ExploreSearch {
  const search: ExploreSearch = {};
  // The router parses a query that looks like JSON.
  const typed = given["q"];
  const q = ["string", "number", "boolean"].includes(typeof typed) ? String(typed) : "";
  if (q.trim() !== "") search.q = q.slice(0, limits.queryBytesMax);
  const tab = EXPLORE_TABS.find((known) => known === given["tab"]);
  if (tab !== undefined && tab !== "parallel") search.tab = tab;
  const objective = readField(given["objective"]);
  if (objective !== undefined && findField(objective)?.of === "metric") search.objective = objective;
  const goal = GOALS.find((known) => known === given["goal"]);
  if (goal !== undefined) search.goal = goal;
  for (const name of FIELD_NAMES) {
    const field = given[name] === NO_FIELD ? NO_FIELD : readField(given[name]);
    if (field !== undefined) search[name] = field;
  }
  for (const name of ["goalx", "goaly"] as const) {
    const way = [...GOALS, "none" as const].find((known) => known === given[name]);
    if (way !== undefined) search[name] = way;
  }
  const axes = (Array.isArray(given["axes"]) ? given["axes"] : []).flatMap((text) => readField(text) ?? []);
  if (axes.length > 0) search.axes = [...new Set(axes)].slice(0, AXES_MAX);
  const scale = readRecord(given["scale"], (value) =>
    value === "log" || value === "linear" ? value : undefined,
  );
  if (scale !== undefined) search.scale = scale;
  const brush = readRecord(given["brush"], readBrush);
  if (brush !== undefined) search.brush = brush;
  const metric = given["metric"];
  if (typeof metric === "string" || typeof metric === "number") {
    const key = String(metric);
    if (key !== "" && key.length <= TEXT_MAX) search.metric = key;
  }
  if (given["cell"] === "strips") search.cell = "strips";
  if ([true, "true", 1, "1"].includes(given["table"] as never)) search.table = true;
  return search;
}

function readField(given: unknown): string | undefined {
  if (typeof given !== "string" || given.length > TEXT_MAX) return undefined;
  return findField(given) === undefined ? undefined : given;
}

function readRecord<T>(
  given: unknown,
  read: (value: unknown) => T | undefined,
): Record<string, T> | undefined {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return undefined;
  const found: [string, T][] = [];
  for (const [text, value] of Object.entries(given)) {
    const one = readField(text) === undefined ? undefined : read(value);
    if (one !== undefined && found.length < BRUSHES_MAX) found.push([text, one]);
  }
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function readBrush(given: unknown): Brush | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const { from, to, of, none } = given as Record<string, unknown>;
  const keys = Array.isArray(of)
    ? of.filter((key): key is string => typeof key === "string" && key.length <= TEXT_MAX).slice(0, KEYS_MAX)
    : [];
  const brush: Brush = {
    ...(typeof from === "number" && Number.isFinite(from) && { from }),
    ...(typeof to === "number" && Number.isFinite(to) && { to }),
    ...(keys.length > 0 && { of: keys }),
    ...(none === true && { none: true }),
  };
  return isEmptyBrush(brush) ? undefined : brush;
}

/** Undefined and empty values are left out of the address. */
export function withPatch(before: ExploreSearch, patch: ExplorePatch): ExploreSearch {
  const after: Record<string, unknown> = { ...before, ...patch };
  for (const [name, value] of Object.entries(after)) {
    const isEmpty =
      value === undefined ||
      value === "" ||
      (typeof value === "object" && Object.keys(value as object).length === 0);
    if (isEmpty) delete after[name];
  }
  return after;
}
