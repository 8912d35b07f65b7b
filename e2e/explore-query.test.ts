import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matches, type RunView } from "#lang/query/evaluate.ts";
import { parseQuery } from "#lang/query/parser.ts";
import { viewRun } from "#lang/query/view.ts";
import { RunSchema, RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import { dose, tally } from "../tools/dose.ts";
import { maskOf, type Brush } from "../web/src/pages/explore/brush.ts";
import { withBrushes } from "../web/src/pages/explore/brush-query.ts";
import { ExploredTable } from "../web/src/pages/explore/explored-table.ts";
import { fieldText } from "../web/src/pages/runs/field.ts";

const QUERIES = dose(500, 20_000);

/** The pages may not import the core; here both stand side by side. */
const hostile = fc.oneof(
  fc.constantFrom(
    "lr",
    "a b",
    'q"uote',
    "b\\slash",
    "tick`",
    "ünï",
    "🎙",
    "or",
    "max",
    "x-y/z",
    "in (",
    "\u202e",
    "'",
  ),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
);
const key = fc
  .array(hostile, { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join("."))
  .filter((text) => text.isWellFormed() && text !== "__proto__");
const value = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer({ min: -3, max: 3 }).map(String),
  fc.constantFrom("NaN", "Infinity", "-Infinity", "true", "false", "null", "[1]", "1.0", "1e-7", "1e+300"),
  hostile.filter((text) => text.isWellFormed()).map((text) => JSON.stringify(text)),
);
const numeric = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom("NaN", "Infinity", "-Infinity", "0", "-0", "1e21"),
);

/** The run as the server's query language sees it. */
function viewOf(run: Run): RunView {
  return viewRun(
    {
      id: run.id,
      name: run.name,
      namespace: "n",
      aliases: [],
      status: "finished",
      notes: "",
      params: `{${Object.entries(run.params)
        .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
        .join()}}`,
      tags: new Map(Object.entries(run.tags)),
      createdUs: 0,
      startedUs: undefined,
      endedUs: undefined,
      updatedUs: 0,
    },
    (name, stat) => run.metrics[`${name}.${stat}`],
    0,
  );
}

describe("brushes as a query", () => {
  it("Z66 the query selects exactly the runs that remain, whatever keys and values are called", () => {
    const world = fc.record({
      param: key,
      params: fc.oneof(
        fc.array(fc.option(value, { nil: undefined }), { minLength: 1, maxLength: 8 }),
        fc.array(fc.option(numeric, { nil: undefined }), { minLength: 1, maxLength: 8 }),
      ),
      tag: key,
      teams: fc.array(fc.option(hostile, { nil: undefined }), { minLength: 8, maxLength: 8 }),
      losses: fc.array(fc.option(fc.double(), { nil: undefined }), { minLength: 8, maxLength: 8 }),
      metric: key,
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
    fc.assert(
      fc.property(world, ({ param, params, tag, teams, losses, metric, chosen, ends, none, before }) => {
        const runs = params.map((text, i) =>
          create(RunSchema, {
            id: "a",
            name: "x",
            status: RunStatus.FINISHED,
            params: text === undefined ? {} : { [param]: text },
            tags: teams[i] === undefined ? {} : { [tag]: teams[i] },
            metrics: losses[i] === undefined ? {} : { [`${metric}.min`]: losses[i] },
          }),
        );
        const table = new ExploredTable(runs, 0);
        const fields = [
          fieldText({ of: "params", key: param }),
          fieldText({ of: "tags", key: tag }),
          fieldText({ of: "metrics", key: metric, stat: "min" }),
        ];
        const brushes: Record<string, Brush> = {};
        for (const text of fields) {
          const { categories, values } = table.column(text)!;
          const of = chosen.flatMap((place) => categories[place]?.key ?? []);
          const [from, to] = ends.map((place) =>
            place === null ? Number.NaN : (values[place] ?? Number.NaN),
          );
          const brush: Brush = {
            ...(of.length > 0 && { of }),
            ...(categories.length === 0 && from === from && { from }),
            ...(categories.length === 0 && to === to && { to }),
            ...(none && { none: true }),
          };
          if (Object.keys(brush).length > 0) brushes[text] = brush;
        }
        const made = withBrushes(before, brushes, (text) => table.column(text));
        if ("problem" in made) return;
        const { where } = parseQuery(made.query, { nowUs: 0 });
        const mask = maskOf(runs.length, (text) => table.column(text), brushes);
        for (const [i, run] of runs.entries()) {
          expect(where === undefined || matches(where, viewOf(run)), `${made.query} of run ${i}`).toBe(
            mask[i] === 1,
          );
        }
      }),
      { numRuns: QUERIES },
    );
    tally("brushed tables", QUERIES);
  });
});
