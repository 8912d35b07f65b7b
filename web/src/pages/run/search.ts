import { readChartSearch, type ChartSearch } from "../../panels/charts/search.ts";

export const RUN_TABS = [
  "overview",
  "charts",
  "artifacts",
  "media",
  "logs",
  "system",
  "provenance",
  "lineage",
] as const;
export type RunTab = (typeof RUN_TABS)[number];

/** The parameters of the address of the run page. Defaults are left out. */
export interface RunSearch extends ChartSearch {
  tab?: Exclude<RunTab, "overview">;
  /** Overview: the search in params. */
  params?: string;
  /** Overview: the search in metrics. */
  metrics?: string;
  /** Artifacts: the search in names. */
  files?: string;
  /** The artifact that is shown, and the step of it, or the step of all media. */
  artifact?: string;
  step?: number;
  /** Logs: the search, as a pattern with `re`; rank, stream; the number of a line. */
  find?: string;
  re?: true;
  rank?: number;
  stream?: string;
  line?: number;
  /** Logs: long lines are broken. */
  wrap?: true;
  /** Whether the pipeline is open. */
  pipeline?: true;
}

const TEXTS = ["params", "metrics", "files", "artifact", "find", "stream"] as const;
const NUMBERS = ["step", "rank", "line"] as const;
const FLAGS = ["re", "wrap", "pipeline"] as const;
const TEXT_LENGTH_MAX = 2_000;

/** Invalid values are ignored. */
export function readRunSearch(given: Record<string, unknown>): RunSearch {
  const search: RunSearch = readChartSearch(given);
  const tab = given["tab"];
  if (RUN_TABS.some((known) => known === tab) && tab !== "overview")
    search.tab = tab as Exclude<RunTab, "overview">;
  for (const key of TEXTS) {
    // In an address typed by hand 7 may be the text "7".
    const value = typeof given[key] === "number" ? String(given[key]) : given[key];
    if (typeof value === "string" && value !== "") search[key] = value.slice(0, TEXT_LENGTH_MAX);
  }
  for (const key of NUMBERS) {
    const value = typeof given[key] === "string" && given[key] !== "" ? Number(given[key]) : given[key];
    if (typeof value === "number" && Number.isSafeInteger(value) && (value >= 0 || key === "step"))
      search[key] = value;
  }
  for (const key of FLAGS)
    if (given[key] === true || given[key] === "true" || given[key] === 1) search[key] = true;
  return search;
}
