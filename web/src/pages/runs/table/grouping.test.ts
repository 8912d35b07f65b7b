import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { aggregate, flatten, groupRuns, innermost } from "./grouping.ts";

const run = (id: string, params: Record<string, string>, loss?: number) =>
  create(RunSchema, { id, name: id, params, metrics: loss === undefined ? {} : { "loss.min": loss } });
const LOSS = { of: "metric", key: "loss", stat: "min" } as const;

const RUNS = [
  run("a", { lr: "0.1", seed: "1", optim: '{"name":"adam"}' }, 1),
  run("b", { lr: "0.1", seed: "2", optim: '{"name":"adam"}' }, 3),
  run("c", { lr: "0.2", seed: "1", optim: '{"name":"sgd"}' }, Number.NaN),
  run("d", { seed: "1", optim: '{"name":"sgd"}' }),
];

describe("groups of runs", () => {
  it("Z10 levels are nested, in the order of their first run", () => {
    const groups = groupRuns(RUNS, ["params.optim.name", "params.lr"], 0);
    expect(
      groups.map(({ label, inner }) => [
        label,
        inner.map((one) => [one.label, one.runs.map(({ id }) => id)]),
      ]),
    ).toEqual([
      ["optim.name adam", [["lr 0.1", ["a", "b"]]]],
      [
        "optim.name sgd",
        [
          ["lr 0.2", ["c"]],
          ["lr none", ["d"]],
        ],
      ],
    ]);
  });

  it("Z10 all but the seed groups runs of the same configuration, named by what differs", () => {
    const groups = groupRuns(RUNS, ["allbut:params.seed"], 0);
    expect(groups.map(({ label, runs }) => [label, runs.length])).toEqual([
      ["lr 0.1, name adam", 2],
      ["lr 0.2, name sgd", 1],
      ["name sgd", 1],
    ]);
  });

  it("Z10 a folded group hides its runs, and its key stays when runs go", () => {
    const [adam] = groupRuns(RUNS, ["params.optim.name"], 0);
    const rest = groupRuns(RUNS.slice(1), ["params.optim.name"], 0);
    expect(rest[0].key).toBe(adam.key);
    const items = flatten(rest, (key) => key === adam.key);
    expect(items.map((item) => (item.kind === "group" ? item.group.label : item.run!.id))).toEqual([
      "optim.name adam",
      "optim.name sgd",
      "c",
      "d",
    ]);
  });

  it("Z10 without fields there are no groups, also when the address is invalid", () => {
    expect(groupRuns(RUNS, [], 0)).toEqual([]);
    expect(groupRuns(RUNS, ["nonsense", "allbut:tags.x"], 0)).toEqual([]);
  });

  it("Z10 every run is in exactly one innermost group", () => {
    const some = fc.array(
      fc.record({ lr: fc.constantFrom("1", "2", "3"), depth: fc.constantFrom("4", "5") }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(some, (params) => {
        const runs = params.map((each, i) => run(`r${i}`, each));
        const ids = innermost(groupRuns(runs, ["params.depth", "params.lr"], 0)).flatMap((group) =>
          group.runs.map(({ id }) => id),
        );
        expect(ids.toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
      }),
    );
  });

  it("Z11 the mean is of the runs that have a number, with the deviation of a sample", () => {
    expect(aggregate(RUNS, LOSS, 0)).toEqual({ count: 2, mean: 2, std: Math.SQRT2 });
    expect(aggregate(RUNS.slice(0, 1), LOSS, 0)).toEqual({ count: 1, mean: 1, std: Number.NaN });
    expect(aggregate(RUNS.slice(2), LOSS, 0)).toBeUndefined();
  });

  it("Z11 the deviation is precise where it is small beside the mean", () => {
    const runs = [1, 2, 3].map((off) => run(String(off), {}, 1e9 + off));
    expect(aggregate(runs, LOSS, 0)).toEqual({ count: 3, mean: 1e9 + 2, std: 1 });
  });
});
