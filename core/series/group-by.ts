import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { requireAtMost } from "../types/check.ts";
import { sizeOf } from "../types/size.ts";
import type { Run } from "../types/run.ts";
import type { HeavyPart } from "../ports/run-store.ts";
import { readField } from "#lang/query/field-text.ts";
import { paramAt } from "#lang/json/param-at.ts";
import { compareValues } from "./compare-values.ts";

/** Runs that are shown as one. */
export interface RunGroup {
  name: string;
  /** JSON text per column they were grouped by; "null" where the runs have none. */
  values: string[];
  runIds: string[];
}

/** A column by which runs are grouped. */
export interface GroupColumn {
  name: string;
  isParam: boolean;
  /** JSON text. */
  of(run: Run): string;
}

export function parseGroupColumns(names: readonly string[]): GroupColumn[] {
  requireAtMost(names.length, limits.groupColumnsMax, "columns to group by");
  return names.map(parseGroupColumn);
}

function parseGroupColumn(name: string): GroupColumn {
  const field = readField(name);
  if (field.of === "param") {
    return { name, isParam: true, of: (run) => paramAt(run.params, field.key) ?? "null" };
  }
  // Without such a tag this is undefined.
  if (field.of === "tag") {
    return { name, isParam: false, of: (run) => JSON.stringify(run.tags.get(field.key)) ?? "null" };
  }
  if (field.of === "run" && (field.name === "namespace" || field.name === "status")) {
    const own = field.name;
    return { name, isParam: false, of: (run) => JSON.stringify(run[own]) };
  }
  throw new CairnError("invalid", `cannot group by column ${quote(name)}`, {
    hint: "columns are params.KEY (nested keys with dots), tags.KEY, namespace and status",
  });
}

/** The parts of a run that the columns do not need. */
export function unneeded(columns: readonly GroupColumn[]): HeavyPart[] {
  return columns.some(({ isParam }) => isParam) ? ["notes", "provenance"] : ["notes", "provenance", "params"];
}

/** Sorts runs into groups as they come, one per combination of values. */
export class Grouping {
  readonly #columns: readonly GroupColumn[];
  readonly #groups = new Map<string, RunGroup>();
  #bytes = 0;

  constructor(columns: readonly GroupColumn[]) {
    this.#columns = columns;
  }

  add(run: Run): void {
    const values = this.#columns.map((column) => column.of(run));
    const key = JSON.stringify(values);
    let group = this.#groups.get(key);
    if (group === undefined) {
      const name = values.map((value, i) => `${this.#columns[i]!.name} = ${value}`).join(", ");
      requireAtMost(this.#groups.size + 1, limits.groupsMax, "groups");
      // A value may be a whole param, and it is both in the name and beside it.
      this.#bytes += sizeOf(values) + sizeOf(name);
      requireAtMost(this.#bytes, limits.pageBytesMax, "values to group by, in bytes");
      this.#groups.set(key, (group = { name, values, runIds: [] }));
    }
    group.runIds.push(run.id);
  }

  /** By the values of the first column, then of the next. */
  finish(): RunGroup[] {
    return [...this.#groups.values()].sort((a, b) => {
      for (const [i, value] of a.values.entries()) {
        const order = compareValues(value, b.values[i]!);
        if (order !== 0) return order;
      }
      return 0;
    });
  }
}
