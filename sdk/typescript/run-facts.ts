/** What terminal and pages show of a run. */
import { ownValue } from "#base/own-value.ts";
import { leafContent, leafOf, type ParamLeaf } from "#lang/json/leaf.ts";
import { paramAt } from "#lang/json/param-at.ts";
import type { Field, MetricField, RunField } from "#lang/query/ast.ts";
import { wordOf } from "#lang/words/enums.ts";
import { isoTime } from "#lang/words/times.ts";
import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import { provenanceValues } from "./provenance-facts.ts";

const OWNER_KEYS = ["owner", "user", "author"];
/** Names under which clients say what a machine is, in the order of interest. */
const HOST_KEYS = ["host", "hostname", "node"];
const GPU_KEYS = ["gpu", "gpus", "accelerator", "accelerators"];
/** The first 12 digits of an id are the time: runs of one millisecond differ only behind them. */
const SHORT_ID = 16;

/** With fewer digits it is more likely a name: 6 are of about four hours. A whole id has 32. */
const ID_BEGINNING = /^[0-9a-f]{6,31}$/;
/** How many runs are offered when several ids begin alike. */
export const SHORT_ID_CANDIDATES = 10;

/** Whether a text may be the beginning of an id. */
export function isShortId(text: string): boolean {
  return ID_BEGINNING.test(text);
}

/** The part of an id that is enough to name a run. */
export function shortId(id: string): string {
  return id.slice(0, SHORT_ID);
}

export function isGoingOn({ status }: Run): boolean {
  return status === RunStatus.RUNNING;
}

/** Seconds, as in the query language: of a run that has not ended, until now; undefined for one that never started. */
export function durationOf({ startedUs, endedUs }: Run, nowMs: number): number | undefined {
  if (startedUs === 0n) return undefined;
  const endUs = endedUs === 0n ? nowMs * 1_000 : Number(endedUs);
  // The writer's clock may be ahead of ours.
  return Math.max(0, (endUs - Number(startedUs)) / 1e6);
}

/** When a run started; when it was created, if it has not. */
export function startUs({ startedUs, createdUs }: Pick<Run, "startedUs" | "createdUs">): number {
  return Number(startedUs || createdUs);
}

/**
 * Where times since the start of a run begin: when it started, or at its first point if that is earlier, such as in an
 * import that does not say when the run started.
 */
export function originOf(runStartUs: number, firstTimeUs: bigint | undefined): number {
  return firstTimeUs === undefined ? runStartUs : Math.min(runStartUs, Number(firstTimeUs));
}

/** The principal of a user who needs no account on the own machine. */
const LOCAL_OWNER = "owner";

/**
 * Who started it: as its tags say, else the principal that created it, else the user of the operating system. A principal
 * that is only the owner of the machine says less than that user.
 */
export function ownerOf({ tags, provenance, creator }: Run): string {
  const user = provenance?.user || firstOf(provenance?.environment ?? {}, OWNER_KEYS);
  return firstOf(tags, OWNER_KEYS) || (creator === LOCAL_OWNER ? user : creator || user) || creator;
}

/** Machine and accelerators. */
export function machineOf({ provenance }: Run): string {
  const environment = provenance?.environment ?? {};
  const counts = new Map<string, number>();
  for (const [key, model] of Object.entries(environment)) {
    // Clients name them one by one, or all in one text.
    if (/^gpu\.\d+$/.test(key)) counts.set(model, (counts.get(model) ?? 0) + 1);
  }
  const gpus = [...counts].map(([model, count]) => (count === 1 ? model : `${count} × ${model}`)).join(", ");
  return [firstOf(environment, HOST_KEYS), gpus || firstOf(environment, GPU_KEYS)]
    .filter((part) => part !== "")
    .join(" · ");
}

function firstOf(entries: Readonly<Record<string, string>>, keys: readonly string[]): string {
  for (const key of keys) if (ownValue(entries, key)) return entries[key]!;
  return "";
}

export function metricOf({ metrics }: Run, { key, stat }: MetricField): number | undefined {
  return ownValue(metrics, `${key}.${stat}`);
}

export function paramLeaf({ params }: Run, key: string): ParamLeaf | undefined {
  const text = paramAt(params, key);
  return text === undefined ? undefined : leafOf(text);
}

/** A value for programs: numbers with every digit, times in ISO 8601, durations in seconds; empty where there is none. */
export function valueText(run: Run, field: Field, nowMs: number): string {
  switch (field.of) {
    case "param": {
      const leaf = paramLeaf(run, field.key);
      return leaf === undefined ? "" : leafContent(leaf);
    }
    case "tag":
      return ownValue(run.tags, field.key) ?? "";
    case "metric": {
      const value = metricOf(run, field);
      return Object.is(value, -0) ? "-0" : String(value ?? "");
    }
    case "run":
      return runText(run, field.name, nowMs);
  }
}

function runText(run: Run, name: RunField, nowMs: number): string {
  switch (name) {
    case "status":
      return wordOf(RunStatus, run.status);
    case "created":
    case "started":
    case "ended":
    case "updated":
      return isoTime(run[`${name}Us`]) ?? "";
    case "duration":
      return String(durationOf(run, nowMs) ?? "");
    case "alias":
      return run.aliases.join(", ");
    case "id":
    case "name":
    case "namespace":
    case "notes":
    case "creator":
      return run[name];
    default:
      return provenanceValues(run, name).join(", ");
  }
}
