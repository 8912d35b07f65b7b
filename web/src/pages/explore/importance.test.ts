import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { ExploredTable } from "./explored-table.ts";
import { importanceOf } from "./importance.ts";
import { bestStat, objectiveOf } from "./objective.ts";

const N = 120;
const runs = Array.from({ length: N }, (_, i) => {
  const lr = (i * 37) % N;
  const width = (i * 53) % 11;
  const depth = (i * 29) % N;
  return create(RunSchema, {
    id: String(i),
    params: {
      lr: String(lr),
      lr_twin: String(lr * 2 + 1),
      width: String(width - 5),
      noise: String((Math.imul(i + 1, 0x9e3779b1) >>> 0) % 97),
      opt: depth % 3 === 0 ? '"sgd"' : '"adam"',
      fixed: "1",
      rare: i < 3 ? String(i) : "null",
    },
    metrics: { "loss.min": -lr + 12 * (width - 5) ** 2 + (depth % 3 === 0 ? 90 : 0) },
  });
});
const table = new ExploredTable(runs, 0);
const all = new Uint8Array(N).fill(1);

describe("importance", () => {
  const { rows, constant, rare } = importanceOf(table, table.column("metrics.loss.min"), all);
  const row = (label: string) => rows.find(({ column }) => column.label === label);

  it("Z68 params are sorted by how much they go along with the objective, curved ones included", () => {
    expect(row("lr")).toMatchObject({ isChance: false, count: N });
    expect(row("lr").rho).toBeLessThan(-0.2);
    expect(row("width")).toMatchObject({ isCurved: true, isChance: false });
    expect(Math.abs(row("width").rho)).toBeLessThan(0.2);
    expect(row("opt").strength).toBeGreaterThan(0.2);
    expect(row("noise")).toMatchObject({ isChance: true, isCurved: false });
    expect(rows[0].column.label).toBe("width");
    const strengths = rows.map(({ strength }) => strength);
    expect(strengths).toEqual(strengths.toSorted((a, b) => b - a));
  });

  it("Z68 params that do not vary are told apart, and those that go along with each other are named", () => {
    expect(constant).toEqual(["fixed"]);
    expect(rare).toEqual(["rare"]);
    expect(row("lr").related).toEqual(["lr_twin"]);
    expect(row("opt").related).toEqual([]);
  });

  it("Z68 one run, or an objective that is always the same, is no fault and says nothing", () => {
    const one = Uint8Array.from(all, (_, i) => Number(i === 0));
    expect(importanceOf(table, table.column("metrics.loss.min"), one).rows).toEqual([]);
    expect(importanceOf(table, table.column("params.fixed"), all).rows).toEqual([]);
    expect(importanceOf(table, table.column("metrics.none.last"), all).rows).toEqual([]);
  });

  it("Z64 the objective is the one of the address, else that of the namespace, with its direction", () => {
    const known = {
      objective: { metric: "val/wer", isMinimized: true },
      directions: new Map([["acc", Direction.MAXIMIZE]]),
    };
    expect(objectiveOf({}, undefined)).toBeUndefined();
    expect(objectiveOf({}, known)).toEqual({ text: "metrics.val/wer.min", key: "val/wer", goal: "min" });
    expect(objectiveOf({ goal: "max" }, known)).toMatchObject({ key: "val/wer", goal: "max" });
    expect(objectiveOf({ objective: "metrics.acc.last" }, known)).toMatchObject({ key: "acc", goal: "max" });
    expect(objectiveOf({ objective: "metrics.new.last" }, known)).toMatchObject({ key: "new", goal: "min" });
    expect(bestStat("acc", known)).toBe("max");
    expect(bestStat("new", known)).toBe("last");
  });
});
