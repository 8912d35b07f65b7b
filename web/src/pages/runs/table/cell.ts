import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import { ownValue } from "#base/own-value.ts";
import type { RunField } from "#lang/query/ast.ts";
import { leafContent, leafOf } from "#lang/json/leaf.ts";
import { paramAt } from "#lang/json/param-at.ts";
import { formatAgo, formatDuration } from "#lang/words/times.ts";
import { formatNumber } from "#lang/words/numbers.ts";
import { wordOf } from "#lang/words/enums.ts";
import type { PageField, ProvenanceField } from "../../../data/runs/field.ts";

/** The value of a run in a column: the text to show, and its number if there is one. */
export interface Cell {
  text: string;
  /** For means, colours and the side it is aligned to. */
  number?: number | undefined;
  /** As it was written, for files and titles. */
  whole: string;
}

const NOTHING: Cell = { text: "", whole: "" };

export function cellOf(run: Run, field: PageField, nowMs: number): Cell {
  switch (field.of) {
    case "run":
      return runCell(run, field.name, nowMs);
    case "param":
      return paramCell(run.params, field.key);
    case "tag":
      return plain(ownValue(run.tags, field.key) ?? "");
    case "environment":
      return plain(ownValue(run.provenance?.environment ?? {}, field.key) ?? "");
    case "metric": {
      const value = ownValue(run.metrics, `${field.key}.${field.stat}`);
      return value === undefined
        ? NOTHING
        : { text: formatNumber(value, { even: true }), number: value, whole: numberText(value) };
    }
    case "provenance":
      return plain(provenanceText(run, field.name));
    case "line":
      return NOTHING;
  }
}

function plain(text: string): Cell {
  return { text, whole: text };
}

function runCell(run: Run, name: RunField, nowMs: number): Cell {
  switch (name) {
    case "name":
    case "id":
    case "namespace":
    case "notes":
      return plain(run[name]);
    case "alias":
      return plain(run.aliases.join(", "));
    case "status":
      return plain(wordOf(RunStatus, run.status));
    case "duration": {
      const us = durationUs(run, nowMs);
      return us === undefined
        ? NOTHING
        : { text: formatDuration(us / 1e6), number: us / 1e6, whole: String(us / 1e6) };
    }
    default: {
      const us = Number(run[`${name}Us`]);
      return us === 0 ? NOTHING : { text: formatAgo(us, nowMs), whole: new Date(us / 1000).toISOString() };
    }
  }
}

/** Until now while it runs; undefined when it has not started. */
function durationUs({ startedUs, endedUs }: Run, nowMs: number): number | undefined {
  if (startedUs === 0n) return undefined;
  return Math.max(0, (endedUs === 0n ? nowMs * 1000 : Number(endedUs)) - Number(startedUs));
}

function numberText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function paramCell(params: Readonly<Record<string, string>>, path: string): Cell {
  const text = paramAt(params, path);
  if (text === undefined) return NOTHING;
  const leaf = leafOf(text);
  return leaf.type === "number" ? { text, number: Number(text), whole: text } : plain(leafContent(leaf));
}

function provenanceText({ provenance }: Run, name: ProvenanceField): string {
  if (provenance === undefined) return "";
  switch (name) {
    case "commit":
    case "branch":
    case "repository":
      return provenance.code?.[name] ?? "";
    case "command":
      return provenance.command.join(" ");
    case "training_data":
      return provenance.trainingData.join(", ");
    case "test_data":
      return provenance.testData.join(", ");
    case "initial_state":
      return provenance.initialState;
    case "feature_pipeline":
      return provenance.featurePipeline;
    case "study":
      return provenance.study;
  }
}
