import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { RunSchema, RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { ExploredTable } from "./explored-table.ts";

const run = (params: Record<string, string>, more: object = {}) =>
  create(RunSchema, { id: "x", params, status: RunStatus.FINISHED, ...more });

describe("what is explored", () => {
  it("Z65 values become numbers where all are, else categories; other values are none", () => {
    const table = new ExploredTable(
      [
        run({ lr: "0.1", mixed: "1", opt: '"adam"', deep: '{"a":{"b":2}}', only: "NaN" }),
        run({ lr: "NaN", mixed: '"1"', opt: '"\\u00e9"', deep: '{"a":{"b":3}}', only: "Infinity" }),
        run({ lr: "Infinity", mixed: "1.0", opt: '"é"', "deep.a.b": "9", only: "NaN" }),
        run({ lr: "1e-3", mixed: "[1]", opt: "null" }),
      ],
      0,
    );
    const lr = table.column("params.lr");
    expect(lr).toMatchObject({
      kind: "number",
      count: 2,
      low: 0.001,
      high: 0.1,
      distinct: 2,
      hasInfinite: true,
    });
    expect([...lr.values]).toEqual([0.1, Number.NaN, Number.NaN, 0.001]);
    const mixed = table.column("params.mixed");
    expect(mixed.kind).toBe("category");
    expect(new Set(mixed.categories.map(({ key, count }) => `${key} ${count}`))).toEqual(
      new Set(["1 2", '"1" 1', "[1] 1"]),
    );
    expect(mixed.categories.filter(({ isAskable }) => !isAskable).map(({ key }) => key)).toEqual(["[1]"]);
    const opt = table.column("params.opt");
    expect(opt.categories.map(({ label, count }) => [label, count])).toEqual([
      ["adam", 1],
      ["é", 2],
    ]);
    expect(opt.values[3]).toBeNaN();
    expect([...table.column("params.deep.a.b").values]).toEqual([2, 3, 9, Number.NaN]);
    expect(table.column("params.only")).toMatchObject({ kind: "number", count: 0, distinct: 0 });
    expect(table.column("params.absent")).toMatchObject({ count: 0 });
    expect(table.column("notes")).toBeUndefined();
    expect(table.column("nonsense")).toBeUndefined();
  });

  it("Z65 integers beyond 2^53 are categories of their own, however they are written", () => {
    const big = ["9007199254740993", "9007199254740993.0", "9007199254740992", '"none"'];
    const table = new ExploredTable(
      big.map((text) => run({ a: `{"b":{"c":${text}}}` })),
      0,
    );
    expect(table.column("params.a.b.c").categories.map(({ label, count }) => [label, count])).toEqual([
      ["9007199254740992", 1],
      ["9007199254740993", 2],
      ["none", 1],
    ]);
  });

  it("Z65 metrics, tags, status and duration are explored, too, and names of prototype members are only names", () => {
    const table = new ExploredTable(
      [
        run(
          {},
          {
            metrics: { "val/wer.min": 0.2 },
            tags: { team: "asr 🎙" },
            startedUs: 1_000_000n,
            endedUs: 4_000_000n,
          },
        ),
        run({ constructor: "1" }, { tags: { toString: "x" }, startedUs: 2_000_000n }),
      ],
      5_000,
    );
    expect([...table.column("metrics.val/wer.min").values]).toEqual([0.2, Number.NaN]);
    expect(table.column("tags.team").categories).toMatchObject([{ key: '"asr 🎙"', label: "asr 🎙" }]);
    expect(table.column("status").categories).toMatchObject([{ key: '"finished"', count: 2 }]);
    expect([...table.column("duration").values]).toEqual([3, 3]);
    expect([...table.column("params.constructor").values]).toEqual([Number.NaN, 1]);
    expect(table.column("params.toString").count).toBe(0);
    expect(table.column("tags.constructor").count).toBe(0);
  });
});
