/** What a table of runs shows of ListFields where nobody chose columns: the same in the terminal and on the pages. */
import { isSystemMetric } from "#lang/metric-key.ts";
import { printField } from "#lang/query/field-text.ts";
import { FieldKind, type FieldInfo } from "#proto/cairn/v1/explore_pb.ts";
import type { HeldObjective } from "#proto/cairn/v1/namespace_pb.ts";
import { bestStat } from "./direction.ts";

/** An item of a list says little without the others. */
const LIST_ITEM = /\.\d+(?:\.|$)/;
const VALUE_LENGTH_MAX = 24;
/** The most frequent ones. */
const VALUES_LOOKED_AT = 5;

/** The objective, else the first metric that is not one of the machine; `field` is the best value of a run. */
export function defaultMetric({
  fields,
  objective,
}: {
  fields: readonly FieldInfo[];
  objective?: HeldObjective | undefined;
}): Pick<HeldObjective, "metric" | "field"> | undefined {
  if (objective !== undefined) return objective;
  const likely = fields.find(({ kind, key }) => kind === FieldKind.METRIC && !isSystemMetric(key));
  if (likely === undefined) return undefined;
  const { key, direction } = likely;
  return { metric: key, field: printField({ of: "metric", key, stat: bestStat(direction) }) };
}

/** Params that differ between the runs, the most informative first: no seeds, names, items of lists or long texts. */
export function defaultParams(fields: readonly FieldInfo[]): string[] {
  return fields
    .filter(({ kind, key, variety, values }) => {
      const seen = values.slice(0, VALUES_LOOKED_AT);
      const isShort = seen.length > 0 && seen.every(({ json }) => json.length <= VALUE_LENGTH_MAX);
      return kind === FieldKind.PARAM && variety > 0 && isShort && !LIST_ITEM.test(key);
    })
    .map(({ key }) => key);
}
