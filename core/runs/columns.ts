import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { Run } from "../types/run.ts";
import type { GetRuns, HeavyPart } from "../ports/run-store.ts";
import { NO_CODE, NO_PROVENANCE, type Provenance } from "../types/provenance.ts";
import type { MetricStat } from "#lang/query/ast.ts";
import { readField } from "#lang/query/field-text.ts";
import {
  isProvenanceList,
  isProvenanceText,
  type ProvenanceList,
  type ProvenanceText,
} from "#lang/query/provenance-fields.ts";

/** What a search returns of each run. Identity, status and times are always included. */
export interface Projection {
  /** true for all of them, else the top-level keys wanted. */
  params: true | ReadonlySet<string>;
  tags: true | ReadonlySet<string>;
  aliases: boolean;
  notes: boolean;
  /** Else the fields of it that are wanted. */
  provenance: true | ReadonlySet<ProvenanceText | ProvenanceList>;
  metrics: readonly { name: string; key: string; stat: MetricStat }[];
}

const DEFAULT_COLUMNS = ["params", "tags", "aliases"];

export function parseColumns(asked: readonly string[]): Projection {
  const columns = asked.length === 0 ? DEFAULT_COLUMNS : asked;
  if (columns.length > limits.pageSizeMax) {
    throw new CairnError(
      "exhausted",
      `cannot return ${columns.length} columns: the most is ${limits.pageSizeMax}`,
    );
  }
  const params = new Set<string>();
  const tags = new Set<string>();
  const provenance = new Set<ProvenanceText | ProvenanceList>();
  const metrics = new Map<string, Projection["metrics"][number]>();
  for (const column of columns) {
    if (WHOLE.has(column)) continue;
    const field = readField(column);
    if (field.of === "param") params.add(field.key);
    else if (field.of === "tag") tags.add(field.key);
    else if (field.of === "metric") {
      const { key, stat } = field;
      const name = `${key}.${stat}`;
      metrics.set(name, { name, key, stat });
    } else if (field.of === "run" && (isProvenanceText(field.name) || isProvenanceList(field.name))) {
      provenance.add(field.name);
    } else if (field.name !== "creator") throw unknownColumn(column);
  }
  return {
    params: columns.includes("params") ? true : params,
    tags: columns.includes("tags") ? true : tags,
    aliases: columns.includes("aliases"),
    notes: columns.includes("notes"),
    provenance: columns.includes("provenance") ? true : provenance,
    metrics: [...metrics.values()],
  };
}

/** The size of a number besides the name of its column, which every run repeats. */
const METRIC_BYTES = 16;

/** With so many rows the metrics alone fill an answer; at least 1. */
export function rowsWithMetrics({ metrics }: Projection): number {
  const rowBytes = metrics.reduce((sum, { name }) => sum + Buffer.byteLength(name) + METRIC_BYTES, 0);
  return rowBytes === 0 ? Infinity : Math.max(1, Math.floor(limits.pageBytesMax / rowBytes));
}

export function project(run: Run, projection: Projection): Run {
  return {
    ...run,
    aliases: projection.aliases ? run.aliases : [],
    notes: projection.notes ? run.notes : "",
    params: pick(run.params, projection.params),
    tags: pick(run.tags, projection.tags),
    provenance: pickProvenance(run.provenance, projection.provenance),
  };
}

/** What the store need not read. */
export function unread({
  params,
  tags,
  notes,
  provenance,
}: Projection): Pick<GetRuns, "omit" | "searchable"> {
  const omit: HeavyPart[] = [
    ...(params !== true && params.size === 0 ? (["params"] as const) : []),
    ...(tags !== true && tags.size === 0 ? (["tags"] as const) : []),
    ...(notes ? [] : (["notes"] as const)),
    ...(provenance === true ? [] : (["provenance"] as const)),
  ];
  return { omit, searchable: provenance !== true && provenance.size > 0 };
}

function pickProvenance(
  provenance: Provenance | undefined,
  wanted: Projection["provenance"],
): Provenance | undefined {
  if (provenance === undefined || wanted === true) return provenance;
  if (wanted.size === 0) return undefined;
  const text = (name: ProvenanceText, value: string | undefined) => (wanted.has(name) && value) || "";
  const { code, environment } = provenance;
  const host = text("host", environment.get("host"));
  const isCodeWanted = wanted.has("repository") || wanted.has("commit") || wanted.has("branch");
  return {
    ...NO_PROVENANCE,
    initialState: text("initial_state", provenance.initialState),
    trainingData: wanted.has("training_data") ? provenance.trainingData : [],
    testData: wanted.has("test_data") ? provenance.testData : [],
    featurePipeline: text("feature_pipeline", provenance.featurePipeline),
    study: text("study", provenance.study),
    logsLocation: text("logs_location", provenance.logsLocation),
    user: text("user", provenance.user),
    environment: host === "" ? NO_PROVENANCE.environment : new Map([["host", host]]),
    code:
      code && isCodeWanted
        ? {
            ...NO_CODE,
            repository: text("repository", code.repository),
            commit: text("commit", code.commit),
            branch: text("branch", code.branch),
          }
        : undefined,
  };
}

const WHOLE = new Set(["params", "tags", "aliases", "notes", "provenance"]);

/** "optim.lr" is found as that exact key, or inside the key "optim", which is returned whole. */
function pick(
  all: ReadonlyMap<string, string>,
  wanted: true | ReadonlySet<string>,
): ReadonlyMap<string, string> {
  if (wanted === true) return all;
  const picked = new Map<string, string>();
  for (const path of wanted) {
    for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
      const key = path.slice(0, end);
      const value = all.get(key);
      if (value === undefined) continue;
      picked.set(key, value);
      break;
    }
  }
  return picked;
}

function unknownColumn(column: string): CairnError {
  return new CairnError(
    "invalid",
    `cannot return column ${quote(column)}: it is always included, or unknown`,
    {
      hint: "columns are params, tags, aliases, notes, provenance, or single ones such as params.lr, tags.team, metrics.loss.min, study",
    },
  );
}
