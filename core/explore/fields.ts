import { byteLength } from "#base/byte-length.ts";
import { limits } from "#lang/limits.ts";
import { isSystemMetric } from "#lang/metric-key.ts";
import { compareNames } from "#lang/words/names.ts";
import type { FieldInfo, FieldKind, KnownMetrics } from "../ports/run-search.ts";
import { sizeOf } from "../types/size.ts";
import { varies, varietyOf, type ValueCounts } from "./variety.ts";

/** One key that runs have, with the counts of an engine. */
export interface CountedField extends ValueCounts {
  readonly kind: FieldKind;
  readonly key: string;
  /** There are values besides those that were counted. */
  readonly moreValues: boolean;
  /** All values are numbers. */
  readonly numeric: boolean;
}

const KINDS: readonly FieldKind[] = ["param", "tag", "metric"];

/** In the order of the list: see ExploreService.ListFields. */
export function orderFields(
  counted: readonly CountedField[],
  allRuns: number,
  known: KnownMetrics,
  valuesMax: number,
): FieldInfo[] {
  const fields = counted.map((field) => ({
    kind: field.kind,
    key: field.key,
    runs: field.runs,
    varies: field.kind !== "metric" && varies(field, allRuns),
    variety: field.kind === "param" ? varietyOf(field.key, field, allRuns) : 0,
    numeric: field.numeric,
    ...mostFrequent(field, valuesMax),
  }));
  return fields.sort(
    (a, b) =>
      KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
      Number(b.varies) - Number(a.varies) ||
      b.variety - a.variety ||
      (a.kind === "metric" ? metricRank(a.key, known) - metricRank(b.key, known) || b.runs - a.runs : 0) ||
      compareNames(a.key, b.key),
  );
}

function mostFrequent(
  { values, moreValues }: CountedField,
  valuesMax: number,
): Pick<FieldInfo, "values" | "moreValues"> {
  const listed = [...values]
    .filter(([value]) => typeof value !== "string" || byteLength(value) <= limits.fieldValueBytesMax)
    .sort(([a, one], [b, other]) => other - one || compareNames(String(a), String(b)))
    .slice(0, valuesMax);
  return { values: listed, moreValues: moreValues || listed.length < values.size };
}

/** As many fields as fit into one answer, from `offset` on; one at least where there is one. */
export function fittingFields(fields: readonly FieldInfo[], offset: number, limit: number): FieldInfo[] {
  let left: number = limits.pageBytesMax;
  const page: FieldInfo[] = [];
  for (const field of fields.slice(offset, offset + limit)) {
    left -= sizeOf(field);
    if (left < 0 && page.length > 0) break;
    page.push(field);
  }
  return page;
}

/** The objective, then evaluation metrics by their name, then keys with a description, system metrics last. */
function metricRank(key: string, { objective, described }: KnownMetrics): number {
  if (key === objective) return 0;
  if (isSystemMetric(key)) return 4;
  if (/(?:^|[/_.])(?:val|eval|test|dev)/.test(key)) return 1;
  return described.has(key) ? 2 : 3;
}
