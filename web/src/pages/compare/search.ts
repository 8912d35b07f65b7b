import { limits } from "#lang/limits.ts";
import { readChartSearch, type ChartSearch } from "../../panels/charts/search.ts";
import { METRIC_STATS, type MetricStat } from "./differences/metric-stat.ts";

export const COMPARE_TABS = ["differences", "charts", "media"] as const;
type CompareTab = (typeof COMPARE_TABS)[number];

/** The parameters of the address of the compare page. Missing ones have their default. */
export interface CompareSearch extends ChartSearch {
  /** Ids of runs, joined by commas. */
  runs?: string;
  /** The id of the baseline; by default the first. */
  base?: string;
  tab?: CompareTab;
  /** Parts that show their equal rows, too, or "all" of them, or "patch"; joined by commas. */
  open?: string;
  /** Only rows whose key contains this. */
  find?: string;
  stat?: MetricStat;
  /** The step of the media. */
  step?: number;
}

export const RUNS_MAX = limits.comparedRunsMax;
const ID_LENGTH_MAX = 200;
const FIND_LENGTH_MAX = 200;

export function readCompareSearch(given: Record<string, unknown>): CompareSearch {
  const runs = textOf(given["runs"]);
  const base = textOf(given["base"]);
  const tab = COMPARE_TABS.find((known) => known === given["tab"]);
  const open = textOf(given["open"]);
  const find = textOf(given["find"]);
  const stat = METRIC_STATS.find((known) => known === given["stat"]);
  const step = textOf(given["step"]);
  return {
    ...readChartSearch(given),
    ...(runs !== "" && { runs }),
    ...(base !== "" && { base: base.slice(0, ID_LENGTH_MAX) }),
    ...(tab !== undefined && tab !== "differences" && { tab }),
    ...(open !== "" && { open }),
    ...(find !== "" && { find: find.slice(0, FIND_LENGTH_MAX) }),
    ...(stat !== undefined && stat !== "best" && { stat }),
    ...(step !== "" && Number.isSafeInteger(Number(step)) && { step: Number(step) }),
  };
}

/** The router makes numbers of what looks like one. */
function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
}

interface NamedRuns {
  /** The baseline first, each once, at most RUNS_MAX. */
  ids: string[];
  /** The same in the order of the address, which the colours follow. */
  order: string[];
  /** How many more the address names. */
  leftOut: number;
}

export function runsOf({ runs = "", base = "" }: CompareSearch): NamedRuns {
  const named = listOf(runs).map((id) => id.slice(0, ID_LENGTH_MAX));
  const order = named.slice(0, RUNS_MAX);
  const ids = order.includes(base) ? [base, ...order.filter((id) => id !== base)] : [...order];
  return { ids, order, leftOut: named.length - order.length };
}

/** The address with one run more, or one less. A baseline that goes leaves the role to the first of the others. */
export function withRun(search: CompareSearch, id: string): CompareSearch {
  return { ...search, runs: [...new Set([...listOf(search.runs), id])].join(",") };
}

export function withoutRun(search: CompareSearch, id: string): CompareSearch {
  const { runs, base, ...rest } = search;
  const left = listOf(runs).filter((other) => other !== id);
  return {
    ...rest,
    ...(left.length > 0 && { runs: left.join(",") }),
    ...(base !== undefined && base !== id && { base }),
  };
}

export function withBase(search: CompareSearch, id: string): CompareSearch {
  const { base: _, ...rest } = search;
  return listOf(search.runs)[0] === id ? rest : { ...rest, base: id };
}

export function isOpen({ open }: CompareSearch, part: string): boolean {
  return listOf(open).includes(part);
}

export function withOpen(search: CompareSearch, part: string, open: boolean): CompareSearch {
  const { open: before, ...rest } = search;
  const parts = listOf(before).filter((other) => other !== part);
  if (open) parts.push(part);
  return parts.length === 0 ? rest : { ...rest, open: parts.join(",") };
}

function listOf(text = ""): string[] {
  return [...new Set(text.split(",").map((part) => part.trim()))].filter((part) => part !== "");
}
