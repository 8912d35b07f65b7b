/**
 * Random runs and queries for tests that hold one engine against another (see reference.ts). Keys and
 * values come from small pools, so that they meet often. Every query is one the parser can make:
 * parseQuery(printQuery(query)) gives it back.
 */
import fc from "fast-check";
import { canonicalJson } from "../../json/canonical.ts";
import { joinObject } from "../../json/object-text.ts";
import { RUN_STATUSES } from "../../statuses.ts";
import type { Comparison, Expression, Literal, Order, Query, QueryField, RunField } from "../ast.ts";
import { fieldType, isOrderable, METRIC_STATS, MODEL_FIELDS, RUN_FIELDS } from "../fields.ts";
import { compilePattern } from "../pattern.ts";
import {
  PROVENANCE_LISTS,
  PROVENANCE_TEXTS,
  type ProvenanceText,
  type SearchableProvenance,
} from "../provenance-fields.ts";
import { likeToRegex } from "../wildcards.ts";
import { printQuery } from "../print.ts";
import type { ViewedModel } from "./view.ts";
import type { ScriptRun } from "./script.ts";

/** The moment to search at: after all starts and before some ends. */
export const ARBITRARY_NOW_US = 1_770_000_000_000_000;

const TEXTS = ["", "a", "A", "ab", "a/b", "a%b", "_", "é", "\uffee", "😀", "1", "true", "line\nbreak"];
const NUMBERS = [0, -0, 1, -1, 2, 0.5, 1e-3, 10, 2 ** 53, Infinity, -Infinity, Number.NaN];
const TIMES_US = [-2e6, -1e6, -1, 0, 1, 5e5, 1e6].map((offset) => ARBITRARY_NOW_US + offset);
const NAMESPACES = ["", "a", "a/b", "a/b/c", "a/bc", "ab", "A"];
const PARAM_KEYS = ["x", "y", "x.y", "x.0", "x.y.x", "learning rate", "__proto__", ""];
const TAG_KEYS = ["x", "team", "mlflow.runName", "constructor"];
const METRIC_KEYS = ["loss", "val/acc", "max", "a.max", "top 5"];
/** Exact in binary with any order of adding up. */
const POINTS = [0, 1, -1, 2, 0.5, 0.25, 3, Infinity, Number.NaN];
const LIKES = ["", "%", "_", "a%", "%b", "a_b", "a\\%b", "\\_", "%A%", "É", "😀", "_%_"];
const REGEXES = ["", "a", "^a$", "^$", "[^a]", "(?i)^a", "b$", "\\d", ".", "(?s)^.$", "x|é", "\\n"];

const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(
      "null",
      "true",
      "false",
      "1",
      "1.0",
      "-0",
      "2",
      "1e-3",
      "9007199254740993",
      "NaN",
      "-Infinity",
    ),
    fc.constantFrom(...TEXTS).map((text) => JSON.stringify(text)),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
    fc.dictionary(fc.constantFrom("x", "y", "0", "y.x"), tie("value"), { maxKeys: 3 }).map(objectText),
  ),
})).value;

function objectText(object: Record<string, string>): string {
  return canonicalJson(joinObject(Object.entries(object)), "test value");
}

function mapOf<V>(
  keys: readonly string[],
  value: fc.Arbitrary<V>,
  maxKeys: number,
): fc.Arbitrary<Map<string, V>> {
  const entry = fc.tuple(fc.constantFrom(...keys), value);
  return fc
    .uniqueArray(entry, { selector: ([key]) => key, maxLength: maxKeys, size: "max" })
    .map((entries) => new Map(entries));
}

/** Up to `maxLength` runs with names and ids of their own. */
export function arbitraryRuns(maxLength = 12): fc.Arbitrary<ScriptRun[]> {
  const time = fc.constantFrom(...TIMES_US);
  const run = fc.record({
    id: fc.integer({ min: 0, max: 999 }).map((number) => String(number).padStart(32, "0")),
    namespace: fc.constantFrom(...NAMESPACES),
    aliases: fc.uniqueArray(fc.constantFrom(...TEXTS.slice(1)), { maxLength: 3 }),
    status: fc.constantFrom(...RUN_STATUSES),
    notes: fc.constantFrom(...TEXTS),
    params: mapOf(PARAM_KEYS, jsonText, 5).map(joinObject),
    tags: mapOf(TAG_KEYS, fc.constantFrom(...TEXTS), 3),
    metrics: mapOf(METRIC_KEYS, fc.array(fc.constantFrom(...POINTS), { minLength: 1, maxLength: 5 }), 3),
    models: fc.uniqueArray(arbitraryModel(), {
      selector: ({ name, step }) => `${name} ${step}`,
      maxLength: 4,
    }),
    createdUs: time,
    startedUs: fc.option(time, { nil: undefined }),
    endedUs: fc.option(time, { nil: undefined }),
    updatedUs: time,
    creator: fc.constantFrom(...TEXTS),
    searchable: fc.option(arbitrarySearchable(), { nil: undefined }),
  });
  return fc
    .uniqueArray(run, { selector: ({ id }) => id, maxLength, size: "max" })
    .map((runs) => runs.map((one, index) => ({ ...one, name: `r${index}` })));
}

function arbitrarySearchable(): fc.Arbitrary<SearchableProvenance> {
  const text = fc.constantFrom(...TEXTS);
  const list = fc.uniqueArray(fc.constantFrom(...TEXTS.slice(1)), { maxLength: 3 });
  return fc.record({
    ...(Object.fromEntries(PROVENANCE_TEXTS.map((name) => [name, text])) as Record<
      ProvenanceText,
      typeof text
    >),
    training_data: list,
    test_data: list,
  });
}

/** Named by name and step. */
export function arbitraryModel(): fc.Arbitrary<ViewedModel> {
  const number = fc.constantFrom(undefined, 0, 1, -1, 2, 10, 2 ** 53);
  return fc.record({
    name: fc.constantFrom(...TEXTS.slice(1)),
    step: number,
    sizeBytes: number,
    createdUs: fc.constantFrom(...TIMES_US),
  });
}

function modelField(models: boolean): fc.WeightedArbitrary<QueryField>[] {
  if (!models) return [];
  return [
    {
      weight: 4,
      arbitrary: fc.record({ of: fc.constant("model" as const), name: fc.constantFrom(...MODEL_FIELDS) }),
    },
  ];
}

function arbitraryField(models: boolean, names: readonly RunField[] = RUN_FIELDS): fc.Arbitrary<QueryField> {
  return fc.oneof(
    ...modelField(models),
    { weight: 2, arbitrary: fc.record({ of: fc.constant("run" as const), name: fc.constantFrom(...names) }) },
    {
      weight: 3,
      arbitrary: fc.record({ of: fc.constant("param" as const), key: fc.constantFrom(...PARAM_KEYS) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ of: fc.constant("tag" as const), key: fc.constantFrom(...TAG_KEYS) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        of: fc.constant("metric" as const),
        key: fc.constantFrom(...METRIC_KEYS),
        stat: fc.constantFrom(...METRIC_STATS),
      }),
    },
  );
}

function arbitraryLiteral(field: QueryField): fc.Arbitrary<Literal> {
  switch (fieldType(field)) {
    case "any":
      return fc.oneof(fc.constantFrom(...NUMBERS), fc.constantFrom(...TEXTS), fc.boolean());
    case "text":
      return fc.constantFrom(...TEXTS, ...NAMESPACES, "r0", "r1", "r2");
    case "status":
      return fc.constantFrom(...RUN_STATUSES);
    case "number":
      return fc.constantFrom(...NUMBERS, ...POINTS, 3, 4, 5);
    case "seconds":
      return fc.constantFrom(...NUMBERS, 1.5, 3);
    case "time":
      return fc.constantFrom(...TIMES_US, 0, Infinity, Number.NaN);
  }
}

const COMPARISONS: readonly Comparison[] = ["=", "!=", "<", "<=", ">", ">="];

const regex: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...REGEXES),
  fc
    .tuple(fc.constantFrom(...LIKES), fc.boolean())
    .map(([like, ignoreCase]) => likeToRegex(like, { ignoreCase })),
);

const under: fc.Arbitrary<Expression> = fc.constantFrom(...NAMESPACES).map((path) => ({ op: "under", path }));

function arbitraryLeaves(models: boolean): fc.WeightedArbitrary<Expression>[] {
  const compare: fc.Arbitrary<Expression> = arbitraryField(models).chain((field) =>
    arbitraryLiteral(field).chain((value) => {
      const unordered = typeof value === "boolean" || fieldType(field) === "status";
      const comparison = fc.constantFrom(...(unordered ? COMPARISONS.slice(0, 2) : COMPARISONS));
      return comparison.map((one) => ({ op: "compare", field, comparison: one, value }));
    }),
  );
  const within: fc.Arbitrary<Expression> = arbitraryField(models).chain((field) =>
    fc
      .array(arbitraryLiteral(field), { minLength: 1, maxLength: 4 })
      .map((values) => ({ op: "in", field, values })),
  );
  const texts = [
    ...(["id", "name", "namespace", "status", "notes", "alias", "creator"] as const),
    ...PROVENANCE_TEXTS,
    ...PROVENANCE_LISTS,
  ];
  const matches: fc.Arbitrary<Expression> = fc
    .tuple(arbitraryField(models, texts), regex)
    .filter(([field]) => field.of !== "metric" && (field.of !== "model" || field.name === "name"))
    .map(([field, text]) => ({ op: "matches", field, pattern: compilePattern(text, "pattern") }));
  const isNull: fc.Arbitrary<Expression> = arbitraryField(models).map((field) => ({ op: "is-null", field }));
  return [
    { weight: 4, arbitrary: compare },
    { weight: 2, arbitrary: within },
    { weight: 2, arbitrary: matches },
    { weight: 1, arbitrary: isNull },
    { weight: 1, arbitrary: under },
  ];
}

function arbitraryExpression(models: boolean): fc.Arbitrary<Expression> {
  return fc.letrec<{ expression: Expression; several: Expression[] }>((tie) => ({
    expression: fc.oneof(
      { maxDepth: 4, depthSize: "small", withCrossShrink: true },
      ...arbitraryLeaves(models),
      { weight: 2, arbitrary: tie("expression").map((term) => ({ op: "not" as const, term })) },
      {
        weight: 3,
        arbitrary: fc.record({ op: fc.constantFrom("and" as const, "or" as const), terms: tie("several") }),
      },
    ),
    several: fc.array(tie("expression"), { minLength: 2, maxLength: 3 }),
  })).expression;
}

/** With `models` one of models and their runs. A failing query is shown as its text. */
export function arbitraryQuery(models = false): fc.Arbitrary<Query> {
  const order: fc.Arbitrary<Order> = fc.record({
    field: arbitraryField(
      models,
      RUN_FIELDS.filter((name) => isOrderable({ of: "run", name })),
    ),
    descending: fc.boolean(),
  });
  return fc
    .record({
      where: fc.option(arbitraryExpression(models), { nil: undefined, freq: 10 }),
      orderBy: fc.array(order, { maxLength: 3 }),
    })
    .map((query) => Object.defineProperty(query, fc.toStringMethod, { value: () => printQuery(query) }));
}
