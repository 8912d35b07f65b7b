import type { RE2JS } from "re2js";
import type { ProvenanceList, ProvenanceText } from "./provenance-fields.ts";

/**
 * The parsed query. A store or index receives this and never the text. Times are absolute (the
 * parser resolves `now-7d`), patterns are checked. What each part means is defined by evaluate.ts.
 * A pattern does not survive a copy to another thread; `printQuery` and `parseQuery` do.
 */
export interface Query {
  /** undefined selects every run, or every model in a search of models. */
  where: Expression | undefined;
  /** Ties are broken as `RUN_TIES` and `MODEL_TIES` of compare.ts say; empty means just that. */
  orderBy: readonly Order[];
}

export interface Order {
  field: QueryField;
  descending: boolean;
}

export type Expression =
  /** Two terms or more. */
  | { op: "and" | "or"; terms: readonly Expression[] }
  | { op: "not"; term: Expression }
  | { op: "compare"; field: QueryField; comparison: Comparison; value: Literal }
  | { op: "in"; field: QueryField; values: readonly Literal[] }
  /** Found anywhere in a text (`pattern.test`); `like` has been turned into an anchored pattern. */
  | { op: "matches"; field: QueryField; pattern: RE2JS }
  | { op: "is-null"; field: QueryField }
  /** The namespace itself or anything below it. */
  | { op: "under"; path: string };

export type Comparison = "=" | "!=" | "<" | "<=" | ">" | ">=";

/**
 * Of a type that fits the field: any for params, text for tags and the text fields, one of its words
 * for status, numbers for all others. Times are microseconds. Bools and statuses know only = and !=.
 */
export type Literal = number | string | boolean;

/** What a query may ask about: fields of models only where models are searched (see `ParseOptions`). */
export type QueryField = Field | ModelField;

/** Of a model: an artifact of kind model. The other fields are then those of its run. */
export interface ModelField {
  of: "model";
  name: ModelFieldName;
}

/** `step` and `size` are missing where the artifact has none. */
export type ModelFieldName = "name" | "step" | "size" | "created";

export type MetricStat = "last" | "first" | "min" | "max" | "mean" | "count";

export type Field =
  | { of: "run"; name: RunField }
  | { of: "param"; key: string }
  | { of: "tag"; key: string }
  | MetricField;

export interface MetricField {
  of: "metric";
  key: string;
  stat: MetricStat;
}

/**
 * `alias`, `training_data` and `test_data` have many values: a comparison holds when it holds for one of them. `duration`
 * is in seconds, until now for a run that has not ended. `creator` is the principal that created the run.
 */
export type RunField =
  | "id"
  | "name"
  | "namespace"
  | "status"
  | "notes"
  | "alias"
  | "created"
  | "started"
  | "ended"
  | "updated"
  | "duration"
  | "creator"
  | ProvenanceText
  | ProvenanceList;
