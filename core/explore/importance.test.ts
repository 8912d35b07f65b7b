import { describe, expect, it } from "vitest";
import type { Field } from "#lang/query/ast.ts";
import { importanceOf } from "./importance.ts";
import type { RunColumn, RunTable } from "./run-table.ts";

const N = 120;
const LOSS: Field = { of: "metric", key: "loss", stat: "min" };
const BOUNDS = { paramsMax: 100, valuesMax: 1e6 };

const numbers = (value: (i: number) => number): RunColumn => ({
  kind: "number",
  values: Float64Array.from({ length: N }, (_, i) => value(i)),
});
const lr = (i: number) => (i * 37) % N;
const width = (i: number) => ((i * 53) % 11) - 5;
const isSgd = (i: number) => ((i * 29) % N) % 3 === 0;

const COLUMNS: Readonly<Record<string, RunColumn>> = {
  lr: numbers(lr),
  lr_twin: numbers((i) => lr(i) * 2 + 1),
  width: numbers(width),
  noise: numbers((i) => (Math.imul(i + 1, 0x9e3779b1) >>> 0) % 97),
  opt: { ...numbers((i) => Number(isSgd(i))), kind: "category", categories: ["adam", "sgd"] },
  fixed: numbers(() => 1),
  rare: numbers((i) => (i < 3 ? i : Number.NaN)),
  loss: numbers((i) => -lr(i) + 12 * width(i) ** 2 + (isSgd(i) ? 90 : 0)),
};

function tableOf(columns: Readonly<Record<string, RunColumn>>): RunTable {
  const params = Object.keys(columns)
    .filter((key) => key !== "loss")
    .map((key) => ({ key, varies: key !== "fixed", variety: 1 }));
  const column = async (field: Field) => ("key" in field ? columns[field.key] : undefined);
  return { count: columns["loss"]?.values.length ?? 0, params, column };
}

describe("importance", () => {
  const found = importanceOf(tableOf(COLUMNS), LOSS, BOUNDS);
  const row = async (key: string) => (await found).params.find((param) => param.key === key)!;

  it("M3 sorts params by how strongly they are associated with the objective, including non-monotonic ones", async () => {
    expect(await row("lr")).toMatchObject({ isChance: false, runs: N });
    expect((await row("lr")).rho).toBeLessThan(-0.2);
    expect(await row("width")).toMatchObject({ isCurved: true, isChance: false });
    expect(Math.abs((await row("width")).rho)).toBeLessThan(0.2);
    expect((await row("opt")).strength).toBeGreaterThan(0.2);
    expect(await row("noise")).toMatchObject({ isChance: true, isCurved: false });
    const { params, runs } = await found;
    expect([params[0]!.key, runs]).toEqual(["width", N]);
    const strengths = params.map(({ strength }) => strength);
    expect(strengths).toEqual(strengths.toSorted((a, b) => b - a));
  });

  it("M3 names params that do not vary, that too few runs have, and that are associated with each other", async () => {
    const { constant, rare } = await found;
    expect([constant, rare]).toEqual([["fixed"], ["rare"]]);
    expect((await row("lr")).related).toEqual(["lr_twin"]);
    expect((await row("opt")).related).toEqual([]);
  });

  it("M3 has no result for one run, for a constant objective, or for one that no run has", async () => {
    const one = Object.fromEntries(
      Object.entries(COLUMNS).map(([key, column]) => [key, { ...column, values: column.values.slice(0, 1) }]),
    );
    const same = { ...COLUMNS, loss: numbers(() => 3) };
    for (const columns of [one, same])
      expect((await importanceOf(tableOf(columns), LOSS, BOUNDS)).params).toEqual([]);
    const none = await importanceOf(tableOf(COLUMNS), { ...LOSS, key: "none" }, BOUNDS);
    expect([none.params, none.runs]).toEqual([[], 0]);
  });

  it("M3 refuses an objective that is not a number, and says how many params it left out", async () => {
    const text = importanceOf(tableOf(COLUMNS), { of: "param", key: "opt" }, BOUNDS);
    await expect(text).rejects.toThrow('cannot explain "params.opt": not all its values are numbers');
    const { params, leftOut } = await importanceOf(tableOf(COLUMNS), LOSS, {
      paramsMax: 100,
      valuesMax: 2 * N,
    });
    expect([params.map(({ key }) => key), leftOut]).toEqual([["lr", "lr_twin"], 4]);
  });
});
