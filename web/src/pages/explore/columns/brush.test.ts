import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matches } from "#lang/query/evaluate.ts";
import { printField } from "#lang/query/field-text.ts";
import { parseQuery } from "#lang/query/parser.ts";
import { viewRun } from "#lang/query/testing/view.ts";
import { RunSchema, type Run } from "#proto/cairn/v1/run_pb.ts";
import { countOf, maskOf, neatRange, withBrush, type Brush } from "./brush.ts";
import { withBrushes } from "./brush-query.ts";
import type { ExploredColumn } from "./explored-column.ts";
import { ExploredTable } from "./explored-table.ts";

function numbers(values: readonly number[], more: Partial<ExploredColumn> = {}): ExploredColumn {
  return {
    text: "params.lr",
    field: { of: "param", key: "lr" },
    label: "lr",
    kind: "number",
    values: Float64Array.from(values),
    categories: [],
    count: values.filter(Number.isFinite).length,
    low: Math.min(...values),
    high: Math.max(...values),
    distinct: new Set(values).size,
    hasInfinite: false,
    ...more,
  };
}

const opt: ExploredColumn = {
  ...numbers([0, 1, 2, Number.NaN]),
  text: "params.opt",
  field: { of: "param", key: "opt" },
  label: "opt",
  kind: "category",
  categories: ['"adam"', "3", "[1]"].map((key) => ({ key, label: key, count: 1, isAskable: key !== "[1]" })),
};
const columns = new Map([
  ["params.lr", numbers([0.1, 1, 10, Number.NaN])],
  ["params.opt", opt],
]);
const columnOf = (text: string) => columns.get(text);
const kept = (brushes: Parameters<typeof maskOf>[2]) => [...maskOf(4, columnOf, brushes)].join("");

describe("brushes", () => {
  it("Z66 a run remains when every brush selects it", () => {
    expect(kept({})).toBe("1111");
    expect(kept({ "params.lr": { from: 1 } })).toBe("0110");
    expect(kept({ "params.lr": { from: 1, to: 1 } })).toBe("0100");
    expect(kept({ "params.lr": { none: true } })).toBe("0001");
    expect(kept({ "params.lr": { to: 0.5, none: true } })).toBe("1001");
    expect(kept({ "params.lr": { of: ["10", "1e0"] } })).toBe("0110");
    expect(kept({ "params.opt": { of: ['"adam"', "[1]"] } })).toBe("1010");
    expect(kept({ "params.opt": { from: 2, none: true } })).toBe("0101");
    expect(kept({ "params.lr": { from: 1 }, "params.opt": { of: ["3"] } })).toBe("0100");
    expect(kept({ "params.unknown": { from: 1 } })).toBe("1111");
    expect(countOf(maskOf(4, columnOf, { "params.lr": { from: 1 } }))).toBe(2);
    expect(withBrush({ "params.lr": { from: 1 } }, "params.lr", {})).toEqual({});
  });

  it("Z66 a range drawn by hand becomes short numbers that select the same runs", () => {
    const value = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
      fc.constant(Number.NaN),
    );
    fc.assert(
      fc.property(fc.array(value), value, value, (all, a, b) => {
        fc.pre(!Number.isNaN(a) && !Number.isNaN(b));
        const [from, to] = a <= b ? [a, b] : [b, a];
        const brush = neatRange(Float64Array.from(all), from, to);
        const fits = (v: number) => v >= (brush.from ?? -Infinity) && v <= (brush.to ?? Infinity);
        expect(all.filter(fits)).toEqual(all.filter((v) => v >= from && v <= to));
        expect(Object.keys(brush).length).toBeGreaterThan(0);
      }),
    );
    expect(neatRange(Float64Array.of(1e-5, 1e-4, 1e-3, 1e-2), 0.0000873, 0.0014142)).toEqual({
      from: 0.000087,
      to: 0.0014,
    });
    expect(neatRange(Float64Array.of(1, 2, 3), 0, 2.4142)).toEqual({ to: 2.4 });
    expect(neatRange(Float64Array.of(1, 2, 3), 0, 9)).toEqual({ from: 1, to: 3 });
  });

  it("Z66 brushes are added to the query, in front of its order, and filters that a query cannot express are reported", () => {
    const ask = (query: string, brushes: Parameters<typeof maskOf>[2]) =>
      withBrushes(query, brushes, columnOf);
    expect(ask("name = 1 order by name", {})).toEqual({ query: "name = 1 order by name" });
    expect(ask("", { "params.lr": { from: 1e-7, to: 0.5 } })).toEqual({
      query: "params.lr >= 1e-7 and params.lr <= 0.5",
    });
    expect(
      ask('name = "or" or id = "b" order by params.lr desc', { "params.opt": { of: ['"adam"', "3"] } }),
    ).toEqual({
      query: '(name = "or" or id = "b") and params.opt in ("adam", 3) order by params.lr desc',
    });
    expect(ask('name = "a or b"', { "params.lr": { to: 1, none: true } })).toEqual({
      query: 'name = "a or b" and (params.lr <= 1 or not (params.lr > -inf and params.lr < inf))',
    });
    // A query does not treat a list as a value: runs with one could not be distinguished from runs without any.
    expect(ask("", { "params.opt": { of: ["3"], none: true } })).toHaveProperty("problem");
    expect(ask("", { "params.opt": { of: ["[1]"] } })).toHaveProperty("problem");
    expect(ask("", { "params.opt": { of: Array.from({ length: 1001 }, String) } })).toHaveProperty("problem");
    expect(ask(`name = "${"x".repeat(16_384)}"`, { "params.lr": { from: 1 } })).toHaveProperty("problem");
  });
});

/** The run as a query sees it. */
function viewOf({ params, tags, metrics }: Run) {
  const entries = Object.entries(params).map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  const plain = { id: "a", name: "x", namespace: "n", aliases: [], status: "finished", notes: "" } as const;
  const times = { createdUs: 0, startedUs: undefined, endedUs: undefined, updatedUs: 0 };
  return viewRun(
    { ...plain, ...times, params: `{${entries.join()}}`, tags: new Map(Object.entries(tags)) },
    (name, stat) => metrics[`${name}.${stat}`],
    0,
  );
}

describe("brushes as a query", () => {
  const text = fc.oneof(
    fc.constantFrom("a b", 'q"uote', "b\\slash", "tick`", "or", "in (", "\u202e", "'"),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
  );
  const numeric = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.constantFrom("NaN", "Infinity", "-Infinity", "0", "-0", "1e21"),
  );
  const value = fc.oneof(
    numeric,
    fc.integer({ min: -3, max: 3 }).map(String),
    fc.constantFrom("true", "false", "null", "[1]", "1.0", "1e-7", "1e+300"),
    text.map((one) => JSON.stringify(one)),
  );
  const lossOf = fc.oneof(fc.double(), fc.constant(undefined));
  const several = <T>(one: fc.Arbitrary<T>) =>
    fc.array(fc.option(one, { nil: undefined }), { minLength: 8, maxLength: 8 });
  const world = fc.record({
    params: fc.oneof(several(value), several(numeric)),
    teams: several(text),
    losses: several(lossOf),
    chosen: fc.array(fc.nat({ max: 7 }), { maxLength: 4 }),
    ends: fc.tuple(fc.option(fc.nat({ max: 7 })), fc.option(fc.nat({ max: 7 }))),
    none: fc.boolean(),
    before: fc.constantFrom(
      "",
      "order by name",
      'name = "x" or name != "x"',
      'not id = "b" order by id desc',
    ),
  });

  it("Z66 the query selects exactly the runs that remain, for any values", () => {
    fc.assert(
      fc.property(world, ({ params, teams, losses, chosen, ends, none, before }) => {
        const runs = params.map((param, i) =>
          create(RunSchema, {
            params: param === undefined ? {} : { "a.b c": param },
            tags: teams[i] === undefined ? {} : { team: teams[i] },
            metrics: losses[i] === undefined ? {} : { "loss.min": losses[i] },
          }),
        );
        const table = new ExploredTable(runs, 0);
        const fields = [
          printField({ of: "param", key: "a.b c" }),
          printField({ of: "tag", key: "team" }),
          printField({ of: "metric", key: "loss", stat: "min" }),
        ];
        const brushes: Record<string, Brush> = {};
        for (const field of fields) {
          const { categories, values } = table.column(field)!;
          const of = chosen.flatMap((place) => categories[place]?.key ?? []);
          const [from, to] = ends.map((place) =>
            place === null
              ? Number.NaN
              : categories.length === 0
                ? values[place]
                : Number(categories[place]?.key),
          );
          const brush: Brush = {
            ...(of.length > 0 && { of }),
            ...(Number.isFinite(from) && { from }),
            ...(Number.isFinite(to) && { to }),
            ...(none && { none: true }),
          };
          if (Object.keys(brush).length > 0) brushes[field] = brush;
        }
        const made = withBrushes(before, brushes, (field) => table.column(field));
        if ("problem" in made) return;
        const { where } = parseQuery(made.query, { nowUs: 0 });
        const found = runs.map((run) => Number(where === undefined || matches(where, viewOf(run))));
        expect(found, made.query).toEqual([...maskOf(runs.length, (field) => table.column(field), brushes)]);
      }),
      { numRuns: 300 },
    );
  });
});
