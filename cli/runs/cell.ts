import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { ownValue } from "#base/own-value.ts";
import type { RunField } from "#lang/query/ast.ts";
import { formatNumber } from "#lang/words/numbers.ts";
import { durationOf, metricOf, paramLeaf, startUs, valueText } from "#sdk/run-facts.ts";
import { printable } from "../output/text.ts";
import { statusMark } from "../output/status-mark.ts";
import { formatAgo, formatDuration, formatTime } from "#lang/words/times.ts";
import { leafWord } from "#lang/json/leaf.ts";
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
      return formatAgo(startUs(run), nowMs).replace(/ ago$/, "");
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
    case "notes":
      return printable(run.notes.split("\n")[0] ?? "");
    default:
      return printable(valueText(run, { of: "run", name }, nowMs));
  }
}

/** The same value for a program. */
export function cellValue(run: Run, field: TableField, nowMs: number): string {
  switch (field.of) {
    case "best": {
      const metric = field.byNamespace.get(run.namespace);
      return metric === undefined ? "" : valueText(run, metric, nowMs);
    }
    case "age":
      return String(Math.max(0, Math.round(nowMs / 1000 - startUs(run) / 1e6)));
    default:
      return valueText(run, field, nowMs);
  }
}

/** Whether its values are numbers, which are aligned right. */
export function isNumeric(runs: readonly Run[], field: TableField): boolean {
  if (field.of === "metric" || field.of === "age") return true;
  if (field.of === "run") return field.name === "duration";
  if (field.of !== "param") return false;
  const leaves = runs.map((run) => paramLeaf(run, field.key)).filter((leaf) => leaf !== undefined);
  return leaves.length > 0 && leaves.every(({ type }) => type === "number");
}
