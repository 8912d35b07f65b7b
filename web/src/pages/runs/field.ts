/**
 * What a column shows, a header sorts by and a group is made of. Its text is the field in the query language (`params.optim.lr`, `metrics.val/wer.min`), so that one
 * text serves as the column of a search, as its order, and in the address.
 */
export const METRIC_STATS = ["last", "first", "min", "max", "mean", "count"] as const;
export type MetricStat = (typeof METRIC_STATS)[number];

export const RUN_FIELDS = [
  "name",
  "status",
  "duration",
  "started",
  "created",
  "ended",
  "updated",
  "namespace",
  "id",
  "alias",
  "notes",
] as const;
export type RunField = (typeof RUN_FIELDS)[number];

export const PROVENANCE_FIELDS = [
  "commit",
  "branch",
  "repository",
  "command",
  "initial_state",
  "training_data",
  "test_data",
  "feature_pipeline",
  "study",
] as const;
export type ProvenanceField = (typeof PROVENANCE_FIELDS)[number];

export type Field =
  | { of: "run"; name: RunField }
  | { of: "params" | "tags" | "environment"; key: string }
  | { of: "metrics"; key: string; stat: MetricStat }
  /** The little picture of a metric over its steps. */
  | { of: "line"; key: string }
  | { of: "provenance"; name: ProvenanceField };

const BARE = /^[\p{L}\p{M}\p{N}_\-/@:#$%&+]+$/u;
const SEGMENT = /^(?:([\p{L}\p{M}\p{N}_\-/@:#$%&+]+)|"((?:[^"\\]|\\.)*)"|`([^`]*)`)/u;
const LENGTH_MAX = 2_000;

export function fieldText(field: Field): string {
  switch (field.of) {
    case "run":
      return field.name;
    case "provenance":
      return `provenance.${field.name}`;
    case "metrics":
      return `metrics.${keyText(field.key)}.${field.stat}`;
    default:
      return `${field.of}.${keyText(field.key)}`;
  }
}

function keyText(key: string): string {
  return key
    .split(".")
    .map((segment) => (BARE.test(segment) ? segment : JSON.stringify(segment)))
    .join(".");
}

/** Undefined for what is no field; addresses are typed by people. */
export function parseField(text: string): Field | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const dot = text.indexOf(".");
  if (dot < 0)
    return RUN_FIELDS.includes(text as RunField) ? { of: "run", name: text as RunField } : undefined;
  const of = text.slice(0, dot);
  const segments = parseSegments(text.slice(dot + 1));
  if (segments === undefined) return undefined;
  const key = segments.map((segment) => segment.text).join(".");
  switch (of) {
    case "params":
    case "tags":
    case "environment":
    case "line":
      return { of, key };
    case "provenance":
      return PROVENANCE_FIELDS.includes(key as ProvenanceField)
        ? { of, name: key as ProvenanceField }
        : undefined;
    case "metrics":
      return parseMetric(segments, key);
    default:
      return undefined;
  }
}

interface Segment {
  text: string;
  quoted: boolean;
}

function parseSegments(text: string): Segment[] | undefined {
  const segments: Segment[] = [];
  let rest = text;
  for (;;) {
    const found = SEGMENT.exec(rest);
    if (found === null) return undefined;
    const [all, bare, quoted, ticked] = found;
    const value = bare ?? ticked ?? unescape(quoted!);
    if (value === undefined) return undefined;
    segments.push({ text: value, quoted: bare === undefined });
    rest = rest.slice(all.length);
    if (rest === "") return segments;
    if (!rest.startsWith(".")) return undefined;
    rest = rest.slice(1);
  }
}

function unescape(quoted: string): string | undefined {
  try {
    return JSON.parse(`"${quoted.replaceAll("\t", "\\t").replaceAll("\n", "\\n")}"`) as string;
  } catch {
    return undefined;
  }
}

/** As the server has it: a last word that is a statistic is one, unless it is quoted or all there is. */
function parseMetric(segments: readonly Segment[], key: string): Field {
  const last = segments.at(-1)!;
  const stat = METRIC_STATS.find((name) => name === last.text);
  if (stat === undefined || last.quoted || segments.length === 1) return { of: "metrics", key, stat: "last" };
  return { of: "metrics", key: key.slice(0, -stat.length - 1), stat };
}

/** What to ask of SearchRuns so that the field can be shown; undefined where it always comes. */
export function searchColumn(field: Field): string | undefined {
  switch (field.of) {
    case "run":
      return field.name === "alias" ? "aliases" : field.name === "notes" ? "notes" : undefined;
    case "provenance":
    case "environment":
      return "provenance";
    case "line":
      return undefined;
    default:
      return fieldText(field);
  }
}

/** Whether the query language can order by it. */
export function isSortable(field: Field): boolean {
  return field.of === "metrics" || field.of === "params" || field.of === "tags" || field.of === "run";
}

/** The words above a column. */
export function fieldLabel(field: Field): string {
  switch (field.of) {
    case "run":
      return RUN_LABELS[field.name];
    case "metrics":
      return `${field.key} ${field.stat}`;
    case "provenance":
      return field.name.replaceAll("_", " ");
    default:
      return field.key;
  }
}

const RUN_LABELS: Readonly<Record<RunField, string>> = {
  name: "Run",
  status: "Status",
  duration: "Duration",
  started: "Started",
  created: "Created",
  ended: "Ended",
  updated: "Updated",
  namespace: "Namespace",
  id: "Id",
  alias: "Aliases",
  notes: "Notes",
};
