import type { Field, Literal } from "#lang/query/ast.ts";

/** Runs as columns over the same rows, each read when it is asked for. */
export interface RunTable {
  readonly count: number;
  /** Those that vary first, the most informative ones before others. */
  readonly params: readonly ParamFact[];
  /** undefined when none of the runs has such a field. The caller owns the arrays. */
  column(field: Field): Promise<RunColumn | undefined>;
}

export interface ParamFact {
  readonly key: string;
  /** It has several values, or some of the runs lack it. */
  readonly varies: boolean;
  /** How informative it is (see variety.ts). */
  readonly variety: number;
}

/** A column is of numbers when every value is one, NaN and infinities included. */
export type RunColumn =
  /** NaN where a run has none. */
  | { readonly kind: "number"; readonly values: Float64Array }
  /** Places in `categories`; NaN where a run has none. */
  | { readonly kind: "category"; readonly values: Float64Array; readonly categories: readonly Literal[] };
