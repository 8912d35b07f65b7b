import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import { ownValue } from "#base/own-value.ts";
import type { MetricField, RunField } from "#lang/query/ast.ts";
import { formatNumber } from "#lang/words/numbers.ts";
import { printable } from "../output/text.ts";
import { statusMark } from "../output/status-mark.ts";
import { formatAgo, formatDuration, formatTime, isoTime } from "#lang/words/times.ts";
import { wordOf } from "#lang/words/enums.ts";
import { leafContent, leafOf, leafWord, type ParamLeaf } from "#lang/json/leaf.ts";
import { paramAt } from "#lang/json/param-at.ts";
import type { TableField } from "./table-field.ts";

export interface CellOptions {
  colour: boolean;
  nowMs: number;
}

/** One value of one run, for a table. Printable. */
export function cellText(run: Run, field: TableField, { colour, nowMs }: CellOptions): string {
  switch (field.of) {
    case "param": {
      const leaf = paramLeaf(run, field.key);
      return leaf === undefined ? "" : printable(leafWord(leaf));
    }
    case "tag":
      return printable(ownValue(run.tags, field.key) ?? "");
    case "metric": {
      const value = metricOf(run, field);
      return value === undefined ? "" : formatNumber(value);
    }
    case "best": {
      const metric = field.byNamespace.get(run.namespace);
      const value = metric && metricOf(run, metric);
      return value === undefined ? "" : `${formatNumber(value)} ${printable(metric!.key)}`;
    }
    case "age":
      return formatAgo(run.startedUs || run.createdUs, nowMs).replace(/ ago$/, "");
    case "run":
      return runText(run, field.name, colour, nowMs);
  }
}

function runText(run: Run, name: RunField, colour: boolean, nowMs: number): string {
  switch (name) {
    case "status":
      return statusMark(run.status, colour);
    case "created":
    case "started":
    case "ended":
    case "updated":
      return formatTime(run[`${name}Us`]);
    case "duration": {
      const seconds = durationOf(run, nowMs);
      return seconds === undefined ? "" : formatDuration(seconds);
    }
    case "alias":
      return printable(run.aliases.join(" "));
    case "notes":
      return printable(run.notes.split("\n")[0] ?? "");
    default:
      return printable(run[name]);
  }
}

/** The same value for a program: numbers digit by digit, times in ISO 8601, seconds. */
export function cellValue(run: Run, field: TableField, nowMs: number): string {
  switch (field.of) {
    case "param": {
      const leaf = paramLeaf(run, field.key);
      return leaf === undefined ? "" : leafContent(leaf);
    }
    case "tag":
      return ownValue(run.tags, field.key) ?? "";
    case "metric": {
      const value = metricOf(run, field);
      if (value === undefined) return "";
      return Object.is(value, -0) ? "-0" : String(value);
    }
    case "best": {
      const metric = field.byNamespace.get(run.namespace);
      return metric === undefined ? "" : cellValue(run, metric, nowMs);
    }
    case "age":
      return String(Math.max(0, Math.round(nowMs / 1000 - Number(run.startedUs || run.createdUs) / 1e6)));
    case "run":
      return runValue(run, field.name, nowMs);
  }
}

function runValue(run: Run, name: RunField, nowMs: number): string {
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
      return run.aliases.join(" ");
    default:
      return run[name];
  }
}

/** Seconds; of a run that goes on, until now. */
export function durationOf(run: Run, nowMs: number): number | undefined {
  if (run.startedUs === 0n) return undefined;
  const endUs = run.endedUs === 0n ? nowMs * 1000 : Number(run.endedUs);
  return Math.max(0, (endUs - Number(run.startedUs)) / 1e6);
}

export function metricOf(run: Run, field: MetricField): number | undefined {
  return ownValue(run.metrics, `${field.key}.${field.stat}`);
}

/** Whether its values are numbers, which are aligned right. */
export function isNumeric(runs: readonly Run[], field: TableField): boolean {
  if (field.of === "metric" || field.of === "age") return true;
  if (field.of === "run") return field.name === "duration";
  if (field.of !== "param") return false;
  const leaves = runs.map((run) => paramLeaf(run, field.key)).filter((leaf) => leaf !== undefined);
  return leaves.length > 0 && leaves.every(({ type }) => type === "number");
}

function paramLeaf({ params }: Run, key: string): ParamLeaf | undefined {
  const text = paramAt(params, key);
  return text === undefined ? undefined : leafOf(text);
}
