import { FieldKind, type FieldInfo } from "#proto/cairn/v1/explore_pb.ts";
import { Direction, type HeldObjective } from "#proto/cairn/v1/namespace_pb.ts";
import type { MetricField } from "#lang/query/ast.ts";
import { printField } from "#lang/query/field-text.ts";
import { defaultMetric, defaultParams } from "#sdk/default-columns.ts";
import { bestStat } from "#sdk/direction.ts";
import type { ListedFields } from "#sdk/pages.ts";

/** The fields to choose from in a namespace and below it. */
export interface KnownKeys {
  /** Paths, nested ones with dots; those that vary first, the most informative first. */
  readonly params: readonly string[];
  /** Those of them whose values are all numbers. */
  readonly numeric: ReadonlySet<string>;
  readonly tags: readonly string[];
  /** The objective first, what the machine did last. */
  readonly metrics: readonly string[];
  readonly objective: HeldObjective | undefined;
  /** Which direction is better, where it is known. */
  readonly directions: ReadonlyMap<string, Direction>;
  /** Of a table of runs. */
  readonly defaults: { metric: ReturnType<typeof defaultMetric>; params: readonly string[] };
  /** Values per field, most frequent first, as a query writes them. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

export function keysOf({ fields, objective }: Pick<ListedFields, "fields" | "objective">): KnownKeys {
  const [params, tags, metrics] = [FieldKind.PARAM, FieldKind.TAG, FieldKind.METRIC].map((wanted) =>
    fields.filter(({ kind }) => kind === wanted),
  ) as [FieldInfo[], FieldInfo[], FieldInfo[]];
  const textsOf = ({ values }: FieldInfo) => values.map(({ json }) => json);
  return {
    params: params.map(({ key }) => key),
    numeric: new Set(params.filter(({ numeric }) => numeric).map(({ key }) => key)),
    tags: tags.map(({ key }) => key),
    metrics: metrics.map(({ key }) => key),
    objective,
    directions: new Map(
      metrics
        .filter(({ direction }) => direction !== Direction.UNSPECIFIED)
        .map(({ key, direction }) => [key, direction]),
    ),
    defaults: { metric: defaultMetric({ fields, objective }), params: defaultParams(fields) },
    values: new Map([
      ...params.map((field) => [printField({ of: "param", key: field.key }), textsOf(field)] as const),
      ...tags.map((field) => [printField({ of: "tag", key: field.key }), textsOf(field)] as const),
    ]),
  };
}

/** The best value of a metric; the last where no direction is known. */
export function bestField(key: string, known: Pick<KnownKeys, "directions"> | undefined): MetricField {
  return { of: "metric", key, stat: bestStat(known?.directions.get(key)) };
}
