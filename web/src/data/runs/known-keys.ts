import { FieldKind, type FieldInfo } from "#proto/cairn/v1/explore_pb.ts";
import { Direction, type HeldObjective } from "#proto/cairn/v1/namespace_pb.ts";
import { printField } from "#lang/query/field-text.ts";
import type { ListedFields } from "#sdk/pages.ts";

/** The fields to choose from in a namespace and below it. */
export interface KnownKeys {
  /** Paths, nested ones with dots; those that vary first, the most informative first. */
  readonly params: readonly string[];
  /** Those of them that have several values, or that some of the runs lack. */
  readonly varying: readonly string[];
  /** Those of them whose values are all numbers. */
  readonly numeric: ReadonlySet<string>;
  readonly tags: readonly string[];
  /** The objective first, what the machine did last. */
  readonly metrics: readonly string[];
  readonly objective: HeldObjective | undefined;
  /** Of metrics that are described. */
  readonly directions: ReadonlyMap<string, Direction>;
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
    varying: params.filter(({ varies }) => varies).map(({ key }) => key),
    numeric: new Set(params.filter(({ numeric }) => numeric).map(({ key }) => key)),
    tags: tags.map(({ key }) => key),
    metrics: metrics.map(({ key }) => key),
    objective,
    directions: new Map(
      metrics
        .filter(({ direction }) => direction !== Direction.UNSPECIFIED)
        .map(({ key, direction }) => [key, direction]),
    ),
    values: new Map([
      ...params.map((field) => [printField({ of: "param", key: field.key }), textsOf(field)] as const),
      ...tags.map((field) => [printField({ of: "tag", key: field.key }), textsOf(field)] as const),
    ]),
  };
}

/** The better direction of a metric: from its description, else from the objective; undefined if neither has one. */
export function directionOf(
  key: string,
  known: Pick<KnownKeys, "objective" | "directions"> | undefined,
): Direction | undefined {
  const described = known?.directions.get(key);
  if (described !== undefined) return described;
  return known?.objective?.metric === key ? known.objective.direction : undefined;
}
