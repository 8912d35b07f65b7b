import { limits } from "#lang/limits.ts";
import { readChartSearch, type ChartSearch } from "../../panels/charts/search.ts";

/** The parameters of the address of the runs page. Everything is optional; invalid values are ignored. */
export interface RunsSearch {
  /** In the query language. */
  q?: string;
  /** Fields of the columns, in their order; absent for the default. */
  cols?: string[];
  /** The pinned ones, which stay when the table is scrolled sideways. */
  pin?: string[];
  /** Widths in pixels, by field. */
  w?: Record<string, number>;
  /** Fields to group by, outermost first; ALL_BUT and a param for all params but that one. */
  group?: string[];
  /** Groups that are folded. */
  shut?: string[];
  /** Selected runs. */
  sel?: string[];
  /**
   * Runs that are hidden from the charts although they are among the first, and runs that are shown although they are
   * not.
   */
  hide?: string[];
  show?: string[];
  /** How much of the width the table takes, in percent; 100 is all of it. */
  split?: number;
  /** The settings of the charts beside the table. */
  charts?: ChartSearch;
}

/** Undefined removes a parameter. */
export type SearchPatch = { [Name in keyof RunsSearch]?: RunsSearch[Name] | undefined };

export const SELECTED_IN_ADDRESS_MAX = 50;
const COLUMNS_MAX = 100;
const GROUPS_MAX = 8;
const LIST_MAX = 200;
const TEXT_MAX = 2_000;
export const WIDTH_MIN = 48;
export const WIDTH_MAX = 900;
export const SPLIT_MIN = 25;
export const SPLIT_MAX = 100;
/** Before a param in `group`: "allbut:params.seed". */
export const ALL_BUT = "allbut:";

export function readRunsSearch(given: Record<string, unknown>): RunsSearch {
  const search: RunsSearch = {};
  // The router parses a query that looks like JSON.
  const typed: unknown = given["q"];
  const q = ["string", "number", "boolean"].includes(typeof typed) ? String(typed) : "";
  if (q.trim() !== "") search.q = q.slice(0, limits.queryBytesMax);
  const lists = [
    ["cols", COLUMNS_MAX],
    ["pin", COLUMNS_MAX],
    ["group", GROUPS_MAX],
    ["shut", LIST_MAX],
    ["sel", SELECTED_IN_ADDRESS_MAX],
    ["hide", LIST_MAX],
    ["show", LIST_MAX],
  ] as const;
  for (const [name, max] of lists) {
    const list = readList(given[name], max);
    if (list.length > 0) search[name] = list;
  }
  const widths = readWidths(given["w"]);
  if (Object.keys(widths).length > 0) search.w = widths;
  const split =
    typeof given["split"] === "number" || typeof given["split"] === "string"
      ? Number(given["split"])
      : Number.NaN;
  if (Number.isFinite(split)) {
    search.split = Math.round(Math.min(SPLIT_MAX, Math.max(SPLIT_MIN, split)));
  }
  const charts = given["charts"];
  if (typeof charts === "object" && charts !== null && !Array.isArray(charts)) {
    const read = readChartSearch(charts as Record<string, unknown>);
    if (Object.keys(read).length > 0) search.charts = read;
  }
  return search;
}

/** One value means a list of one; duplicates are removed. */
function readList(given: unknown, max: number): string[] {
  const list: unknown[] = Array.isArray(given) ? given : given === undefined ? [] : [given];
  const texts = list.filter((each) => typeof each === "string" || typeof each === "number").map(String);
  return [...new Set(texts.filter((text) => text !== "" && text.length <= TEXT_MAX))].slice(0, max);
}

function readWidths(given: unknown): Record<string, number> {
  if (typeof given !== "object" || given === null) return {};
  const widths: Record<string, number> = {};
  for (const [field, width] of Object.entries(given).slice(0, COLUMNS_MAX)) {
    if (typeof width !== "number" || !Number.isFinite(width) || field.length > TEXT_MAX) continue;
    widths[field] = Math.round(Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, width)));
  }
  return widths;
}
