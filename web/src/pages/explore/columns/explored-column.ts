import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import type { Field } from "#lang/query/ast.ts";
import { wordOf } from "#lang/words/enums.ts";
import { compareNames } from "#lang/words/names.ts";
import { leafContent, leafIdentity, leafOf } from "#lang/json/leaf.ts";
import { paramLeaves } from "#lang/json/leaves.ts";
import { paramAt } from "#lang/json/param-at.ts";
import { durationOf, metricOf } from "#sdk/run-facts.ts";
import { fieldLabel } from "../../../data/runs/field.ts";

/** One of the values of a property that is not all numbers. */
export interface Category {
  /** One for one value, however it was written: JSON, and where the query language knows such a value, its literal there. */
  readonly key: string;
  readonly label: string;
  readonly count: number;
  /** In a query lists, objects and NaN are never equal to a value. */
  readonly isAskable: boolean;
}

/** One property of all runs, one place per run. */
export interface ExploredColumn {
  /** The field as text; what the address has. */
  readonly text: string;
  readonly field: Field;
  readonly label: string;
  readonly kind: "number" | "category";
  /** A number, or the place of the category; NaN for none, and for numbers also for NaN and infinities. */
  readonly values: Float64Array;
  /** Empty for numbers. */
  readonly categories: readonly Category[];
  /** Runs with a value that can be shown. */
  readonly count: number;
  /** Of numbers; NaN when there are none. */
  readonly low: number;
  readonly high: number;
  readonly distinct: number;
  /** Some runs have an infinity there. */
  readonly hasInfinite: boolean;
}

/** Params of a run by their paths, nested ones flattened. */
export function flatParams({ params }: Run): Readonly<Record<string, string>> {
  if (!Object.values(params).some((text) => text.startsWith("{"))) return params;
  const leaves = paramLeaves(Object.entries(params));
  return Object.fromEntries(Array.from(leaves, ([path, { source }]) => [path, source]));
}

/** Whether this page can show such a field. */
export function isExplorable(field: Field): boolean {
  return field.of !== "run" || ["status", "namespace", "duration"].includes(field.name);
}

type Raw = string | number | undefined;

function rawOf(run: Run, flat: Readonly<Record<string, string>>, field: Field, nowMs: number): Raw {
  switch (field.of) {
    case "param":
      return Object.hasOwn(flat, field.key) ? flat[field.key] : paramAt(run.params, field.key);
    case "tag":
      return Object.hasOwn(run.tags, field.key) ? JSON.stringify(run.tags[field.key]) : undefined;
    case "metric":
      return metricOf(run, field);
    case "run":
      if (field.name === "status") return JSON.stringify(wordOf(RunStatus, run.status));
      if (field.name === "namespace") return JSON.stringify(run.namespace);
      return durationOf(run, nowMs);
  }
}

export interface ColumnSource {
  readonly runs: readonly Run[];
  /** Of each run, as `flatParams` gives them. */
  readonly flat: readonly Readonly<Record<string, string>>[];
  readonly nowMs: number;
}

/** A column is of numbers when every value is one, NaN and infinities included. */
export function columnOf({ runs, flat, nowMs }: ColumnSource, text: string, field: Field): ExploredColumn {
  const raw = runs.map((run, i): Raw => {
    const value = rawOf(run, flat[i]!, field, nowMs);
    return value === "null" ? undefined : value;
  });
  const head = { text, field, label: fieldLabel(field) };
  const isNumbers =
    field.of !== "tag" && raw.every((value) => typeof value !== "string" || leafOf(value).type === "number");
  return isNumbers ? { ...head, ...numbersOf(raw) } : { ...head, ...categoriesOf(raw) };
}

type Content = Omit<ExploredColumn, "text" | "field" | "label">;

function numbersOf(raw: readonly Raw[]): Content {
  const values = new Float64Array(raw.length).fill(Number.NaN);
  const seen = new Set<number>();
  let count = 0;
  let low = Infinity;
  let high = -Infinity;
  let hasInfinite = false;
  for (const [i, text] of raw.entries()) {
    const value = text === undefined ? Number.NaN : Number(text);
    if (value === Infinity || value === -Infinity) hasInfinite = true;
    if (!Number.isFinite(value)) continue;
    values[i] = value;
    seen.add(value);
    count++;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const [from, to] = count === 0 ? [Number.NaN, Number.NaN] : [low, high];
  return {
    kind: "number",
    values,
    categories: [],
    count,
    low: from,
    high: to,
    distinct: seen.size,
    hasInfinite,
  };
}

function categoriesOf(raw: readonly Raw[]): Content {
  const keys = new Map<Raw, string>();
  const counts = new Map<string, number>();
  const ofRuns = raw.map((text) => {
    if (text === undefined) return undefined;
    let key = keys.get(text);
    if (key === undefined) keys.set(text, (key = leafIdentity(leafOf(String(text)))));
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return key;
  });
  const categories = [...counts]
    .map(([key, count]): Category => ({ key, count, label: labelOf(key), isAskable: isAskable(key) }))
    .toSorted((a, b) => compareNames(a.label, b.label) || compareNames(a.key, b.key));
  const places = new Map(categories.map(({ key }, place) => [key, place]));
  const values = Float64Array.from(ofRuns, (key) => (key === undefined ? Number.NaN : places.get(key)!));
  const count = ofRuns.filter((key) => key !== undefined).length;
  return {
    kind: "category",
    values,
    categories,
    count,
    low: Number.NaN,
    high: Number.NaN,
    distinct: categories.length,
    hasInfinite: false,
  };
}

function labelOf(key: string): string {
  return leafContent(leafOf(key)) || "(empty)";
}

function isAskable(key: string): boolean {
  return !/^[[{]/.test(key) && key !== "NaN";
}
