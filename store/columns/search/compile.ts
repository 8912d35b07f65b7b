/** From the parsed query to filters and sort keys over the current columns. */
import type { RE2JS } from "re2js";
import { compareCodePoints } from "#lang/code-points.ts";
import type { SearchRequest } from "#core/ports/run-search.ts";
import type { Comparison, Expression, Literal, Order, QueryField } from "#lang/query/ast.ts";
import { limits } from "#lang/limits.ts";
import { isUnder } from "#lang/namespace-path.ts";
import { holds, RUN_TIES } from "#lang/query/compare.ts";
import { isProvenanceList } from "#lang/query/provenance-fields.ts";
import { PatternDeadline } from "#lang/query/pattern-deadline.ts";
import type { AliasColumn } from "../cells/alias-column.ts";
import { type CellReader, EMPTY } from "../cells/cells.ts";
import { Duration } from "../cells/duration.ts";
import type { ListColumn } from "../cells/list-column.ts";
import {
  allOf,
  anyOf,
  codesWhere,
  hasCode,
  inside,
  nothing,
  oneOfNumbers,
  opposite,
  outside,
  present,
  rowsIn,
  type Term,
} from "./filter.ts";
import type { MaskTable } from "../masks/mask-table.ts";
import type { ModelColumns } from "../models/model-columns.ts";
import { METRIC_LANES } from "../cells/metric-column.ts";
import type { SortKey } from "./ordering.ts";
import type { RunColumns } from "../cells/run-columns.ts";
import type { SearchDeadline } from "./search-deadline.ts";
import { FALSE, FIRST_TEXT, TRUE, type ValueColumn } from "../cells/value-column.ts";

/** The cost of one text, in units of comparing a number. */
const TEXT_COST = 5;
const PATTERN_COST = 100;

/** Numbers in `lane` of `cells`; texts and bools where there is a column. */
export interface Source {
  readonly cells: CellReader;
  readonly lane: number;
  readonly column: ValueColumn | undefined;
}

export class Compiler {
  readonly #columns: RunColumns;
  readonly #nowUs: number;
  readonly #deadline: SearchDeadline;
  readonly #models: ModelColumns | undefined;
  #patterns: PatternDeadline | undefined;

  /**
   * `nowUs` is where a running run ends for `duration`. With `models`, terms about models alone become filters
   * and keys over their rows.
   */
  constructor(columns: RunColumns, nowUs: number, deadline: SearchDeadline, models?: ModelColumns) {
    this.#columns = columns;
    this.#nowUs = nowUs;
    this.#deadline = deadline;
    this.#models = models;
  }

  /** Rows that the request selects and its caller may see; `readable` undefined is everything. */
  filter(
    request: Pick<SearchRequest, "query" | "only" | "under" | "trashed">,
    readable: MaskTable | undefined,
  ): Term {
    const { query, only, under, trashed } = request;
    const terms: Term[] = [];
    if (only !== undefined) {
      terms.push(rowsIn(only.map((id) => this.#columns.findRow(id)).filter((row) => row !== undefined)));
    }
    if (readable !== undefined) terms.push(readable.term(this.#columns));
    if (trashed || !this.#columns.allLive) terms.push(this.trash(trashed));
    if (under !== "") terms.push(this.#namespaces((path) => isUnder(path, under)));
    if (query.where !== undefined) terms.push(this.term(query.where));
    return allOf(terms);
  }

  /** Rows in the trash, by themselves or with their namespace; or those in use outside of it. */
  trash(trashed: boolean): Term {
    const own = hasCode(this.#columns.trashed.cells, trashed ? TRUE : FALSE);
    if (!this.#columns.hasTrashedNamespaces) return own;
    const within = this.#namespaces((path) => this.#columns.isNamespaceTrashed(path));
    return trashed ? anyOf([own, within]) : allOf([own, opposite(within)]);
  }

  sortKeys(orderBy: readonly Order[]): SortKey[] {
    return [...orderBy, ...RUN_TIES].map((order) => this.sortKey(order));
  }

  sortKey({ field, descending }: Order): SortKey {
    const many = this.#manyOf(field);
    if (many !== undefined) {
      return { descending, value: (row) => many.first(row), numbers: undefined, column: undefined };
    }
    const source = this.find(field) ?? NOWHERE;
    const { cells, lane, column } = source;
    return {
      descending,
      value: (row) => {
        if (column !== undefined) return column.value(row);
        return cells.code(row) === EMPTY ? undefined : cells.number(row, lane);
      },
      numbers: column?.onlyNumbers === false ? undefined : source,
      column,
    };
  }

  #manyOf(field: QueryField): AliasColumn | ListColumn | undefined {
    if (field.of !== "run") return undefined;
    if (field.name === "alias") return this.#columns.aliases;
    return isProvenanceList(field.name) ? this.#columns.lists[field.name] : undefined;
  }

  /** undefined when no run has the key, and for a field with many values. */
  find(field: QueryField): Source | undefined {
    const { fields, params, tags } = this.#columns;
    switch (field.of) {
      case "metric": {
        const metric = this.#columns.findMetric(field.key);
        return (
          metric && { cells: metric.reader(field.stat), lane: METRIC_LANES[field.stat], column: undefined }
        );
      }
      case "param":
        return sourceOf(params.find(field.key));
      case "tag":
        return sourceOf(tags.find(field.key));
      case "model":
        return sourceOf(this.#models?.fields[field.name]);
      case "run":
        if (field.name === "alias" || isProvenanceList(field.name)) return undefined;
        if (field.name !== "duration") return sourceOf(fields[field.name]);
        return {
          cells: new Duration(fields.started.cells, fields.ended.cells, this.#nowUs),
          lane: 0,
          column: undefined,
        };
    }
  }

  /** The whole expression must be about runs, or about models. */
  term(expression: Expression): Term {
    switch (expression.op) {
      case "and":
        return allOf(expression.terms.map((term) => this.term(term)));
      case "or":
        return anyOf(expression.terms.map((term) => this.term(term)));
      case "not":
        return opposite(this.term(expression.term));
      case "under":
        return this.#namespaces((path) => isUnder(path, expression.path));
      default: {
        const many = this.#manyOf(expression.field);
        return many === undefined ? this.#fieldTerm(expression) : this.#manyTerm(many, expression);
      }
    }
  }

  #namespaces(test: (path: string) => boolean): Term {
    const { namespace } = this.#columns.fields;
    return codesWhere(namespace.cells, namespace.codeCount, 1, (code) => {
      return code >= FIRST_TEXT && test(namespace.text(code));
    });
  }

  #manyTerm(many: AliasColumn | ListColumn, expression: FieldExpression): Term {
    switch (expression.op) {
      case "is-null":
        return many.absent();
      case "matches":
        return many.where(PATTERN_COST, this.#patternTest(expression.pattern));
      case "in":
        return many.oneOf(expression.values.filter((value) => typeof value === "string"));
      case "compare": {
        const { comparison, value } = expression;
        if (comparison === "=") return many.oneOf(typeof value === "string" ? [value] : []);
        return many.where(TEXT_COST, (text) => holds(text, comparison, value));
      }
    }
  }

  #patternTest(pattern: RE2JS): (text: string) => boolean {
    const limitMs = Math.min(this.#deadline.limitMs, limits.patternMsMax);
    this.#patterns ??= new PatternDeadline("search runs", limitMs);
    return this.#patterns.test(pattern);
  }

  #fieldTerm(expression: FieldExpression): Term {
    const source = this.find(expression.field);
    if (source === undefined) return expression.op === "is-null" ? opposite(nothing) : nothing;
    const { cells, column } = source;
    switch (expression.op) {
      case "is-null":
        return opposite(present(cells));
      case "in":
        return oneOf(source, expression.values);
      case "matches": {
        const test = this.#patternTest(expression.pattern);
        if (column === undefined) return nothing;
        return codesWhere(cells, column.codeCount, PATTERN_COST, (code) => {
          return code >= FIRST_TEXT && test(column.text(code));
        });
      }
      case "compare":
        return compare(source, expression.comparison, expression.value);
    }
  }
}

type FieldExpression = Extract<Expression, { field: QueryField }>;

const NOWHERE: Source = {
  cells: {
    code: () => EMPTY,
    number: () => Number.NaN,
    codesPart: () => undefined,
    numbersPart: () => undefined,
  },
  lane: 0,
  column: undefined,
};

function sourceOf(column: ValueColumn | undefined): Source | undefined {
  return column && { cells: column.cells, lane: 0, column };
}

function compare({ cells, lane, column }: Source, comparison: Comparison, value: Literal): Term {
  if (typeof value === "number") return compareNumber(cells, lane, comparison, value);
  if (column === undefined) return nothing;
  if (comparison === "=") {
    const code = codeOf(column, value);
    return code === undefined ? nothing : hasCode(cells, code);
  }
  if (typeof value === "string") {
    const fits = orderTest(comparison);
    return codesWhere(cells, column.codeCount, TEXT_COST, (code) => {
      return code >= FIRST_TEXT && fits(compareCodePoints(column.text(code), value));
    });
  }
  return codesWhere(cells, column.codeCount, 1, (code) => {
    return (code === TRUE || code === FALSE) && holds(code === TRUE, comparison, value);
  });
}

/** What `holds` tests of the order of two values of one type. */
function orderTest(comparison: Comparison): (order: number) => boolean {
  switch (comparison) {
    case "=":
      return (order) => order === 0;
    case "!=":
      return (order) => order !== 0;
    case "<":
      return (order) => order < 0;
    case "<=":
      return (order) => order <= 0;
    case ">":
      return (order) => order > 0;
    case ">=":
      return (order) => order >= 0;
  }
}

function compareNumber(cells: CellReader, lane: number, comparison: Comparison, value: number): Term {
  if (Number.isNaN(value)) return nothing;
  switch (comparison) {
    case "=":
      return inside(cells, lane, value, value);
    case "!=":
      return outside(cells, lane, value, value);
    case "<":
      return inside(cells, lane, -Infinity, -nextUp(-value));
    case "<=":
      return inside(cells, lane, -Infinity, value);
    case ">":
      return inside(cells, lane, nextUp(value), Infinity);
    case ">=":
      return inside(cells, lane, value, Infinity);
  }
}

function oneOf({ cells, lane, column }: Source, values: readonly Literal[]): Term {
  const numbers = new Set<number>();
  const codes = new Set<number>();
  for (const value of values) {
    const code = column === undefined || typeof value === "number" ? undefined : codeOf(column, value);
    if (typeof value === "number" && !Number.isNaN(value)) numbers.add(value);
    else if (code !== undefined) codes.add(code);
  }
  const terms: Term[] = [];
  if (numbers.size > 0) terms.push(oneOfNumbers(cells, lane, numbers));
  if (codes.size > 0) terms.push(codesWhere(cells, column!.codeCount, 1, (code) => codes.has(code)));
  return anyOf(terms);
}

function codeOf(column: ValueColumn, value: string | boolean): number | undefined {
  if (typeof value === "string") return column.findCode(value);
  return value ? TRUE : FALSE;
}

const float = new Float64Array(1);
const bits = new BigUint64Array(float.buffer);

/** The next double above; NaN, which no number reaches, above Infinity. */
function nextUp(value: number): number {
  if (value === Infinity) return Number.NaN;
  if (value === 0) return Number.MIN_VALUE;
  float[0] = value;
  bits[0]! += value > 0 ? 1n : -1n;
  return float[0];
}
