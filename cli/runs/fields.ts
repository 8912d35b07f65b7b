/** Fields of the query language, as far as a client must know them: to show a column it must find the value. */
import { InvalidArgumentError } from "commander";

export type Field =
  | { of: "run"; name: RunField }
  | { of: "params" | "tags"; key: string }
  | MetricField
  /** Chosen, never asked for: of each run the metric its own namespace is judged by. */
  | { of: "best"; byNamespace: ReadonlyMap<string, MetricField> };

export interface MetricField {
  of: "metrics";
  key: string;
  stat: Stat;
}

const RUN_FIELDS = [
  "id",
  "name",
  "status",
  "namespace",
  "age",
  "created",
  "started",
  "ended",
  "updated",
  "duration",
  "notes",
  "alias",
] as const;
export type RunField = (typeof RUN_FIELDS)[number];

const STATS = ["last", "first", "min", "max", "mean", "count"] as const;
export type Stat = (typeof STATS)[number];

const SEGMENT = /"(?:[^"\\]|\\.)*"|`[^`]*`|[^."`,\s]+/y;
const SCAN =
  /(?:params|metrics|tags)(?:\.(?:"(?:[^"\\]|\\.)*"|`[^`]*`|[\w\-/@:#$%&+]+))+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|[\p{L}\p{N}_]+|./giu;

/** Throws InvalidArgumentError for what is no field. */
export function parseField(text: string): Field {
  const [head = "", ...segments] = segmentsOf(text);
  const of = head.toLowerCase();
  if (segments.length === 0) {
    const name = RUN_FIELDS.find((known) => known === of);
    if (name !== undefined) return { of: "run", name };
  } else if (of === "params" || of === "tags") {
    return { of, key: segments.map(unquoted).join(".") };
  } else if (of === "metrics") {
    const stat = STATS.find((known) => known === segments.at(-1)!.toLowerCase());
    const isStat = stat !== undefined && segments.length > 1;
    const keys = isStat ? segments.slice(0, -1) : segments;
    return { of, key: keys.map(unquoted).join("."), stat: isStat ? stat : "last" };
  }
  throw new InvalidArgumentError(
    `"${text}" is no column: there are ${RUN_FIELDS.join(", ")}, params.KEY, tags.KEY and metrics.KEY.STAT.`,
  );
}

function segmentsOf(text: string): string[] {
  const segments: string[] = [];
  for (let at = 0; at < text.length;) {
    SEGMENT.lastIndex = at;
    const match = SEGMENT.exec(text);
    if (match === null) return [];
    segments.push(match[0]);
    at = SEGMENT.lastIndex;
    if (at === text.length) return segments;
    if (text[at] !== ".") return [];
    at++;
  }
  return [];
}

function unquoted(segment: string): string {
  if (segment.startsWith("`")) return segment.slice(1, -1);
  if (!segment.startsWith('"')) return segment;
  try {
    return String(JSON.parse(segment));
  } catch {
    return segment.slice(1, -1);
  }
}

/** As the query language writes it. */
export function fieldText(field: Field): string {
  if (field.of === "run") return field.name;
  if (field.of === "best") return "best";
  const key = field.key.split(".").map(quotedSegment).join(".");
  return field.of === "metrics" ? `metrics.${key}.${field.stat}` : `${field.of}.${key}`;
}

function quotedSegment(segment: string): string {
  const isStat = STATS.some((stat) => stat === segment.toLowerCase());
  return /^[\w\-/@:#$%&+]+$/.test(segment) && !isStat ? segment : JSON.stringify(segment);
}

/** A list with commas, of which those in quotes separate nothing. */
export function splitList(text: string): string[] {
  return (text.match(/(?:"(?:[^"\\]|\\.)*"|`[^`]*`|[^,"`])+/g) ?? [])
    .map((item) => item.trim())
    .filter(Boolean);
}

export interface ScannedQuery {
  /** Params, tags and metrics it asks about, each once. */
  fields: Field[];
  hasOrder: boolean;
}

/** What a query talks about. It may be wrong in any way: the server says so. */
export function scanQuery(query: string): ScannedQuery {
  const fields = new Map<string, Field>();
  let hasOrder = false;
  let before = "";
  for (const [token] of query.matchAll(SCAN)) {
    if (/^\s*$/.test(token)) continue;
    if (before.toLowerCase() === "order" && token.toLowerCase() === "by") hasOrder = true;
    if (/^(?:params|tags|metrics)\./i.test(token)) {
      const field = parseField(token);
      fields.set(fieldText(field), field);
    }
    before = token;
  }
  return { fields: [...fields.values()], hasOrder };
}
