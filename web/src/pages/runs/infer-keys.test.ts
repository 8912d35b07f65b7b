import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { defaultColumns, inferKeys } from "./infer-keys.ts";

const RUNS = [
  create(RunSchema, {
    params: { lr: "0.1", seed: "1", same: "7", optim: '{"name":"adam","betas":[0.9,0.99]}' },
    tags: { team: "asr" },
  }),
  create(RunSchema, {
    params: { lr: "0.1", seed: "2", same: "7", optim: '{"name":"sgd","betas":[0.9,0.99]}' },
    tags: { team: "mt" },
  }),
  create(RunSchema, { params: { lr: "0.2", seed: "3", same: "7", aaa: '"x"' }, tags: { team: "mt" } }),
];
const SAMPLE = {
  runs: RUNS,
  environments: [{ CUDA_VERSION: "12" }, {}],
  metrics: [
    { key: "a/rare", runCount: 1 },
    { key: "train/loss", runCount: 2 },
    { key: "val/acc", runCount: 1 },
    { key: "system/gpu", runCount: 1 },
  ],
  described: [{ key: "lr", direction: Direction.UNSPECIFIED }],
  objective: { metric: "val/acc", isMinimized: false },
};

describe("what there is to choose from", () => {
  it("Z5 params come by their path, tags and metrics too, what is judged by first", () => {
    const known = inferKeys(SAMPLE);
    expect(known.params.toSorted()).toEqual(["aaa", "lr", "optim.betas", "optim.name", "same", "seed"]);
    expect(known.metrics).toEqual(["val/acc", "lr", "train/loss", "a/rare", "system/gpu"]);
    expect(known.values.get("tags.team")).toEqual(['"mt"', '"asr"']);
    expect(known.values.get("params.lr")).toEqual(["0.1", "0.2"]);
    expect([...known.varying]).not.toContain("same");
    expect(known.environment).toEqual(["CUDA_VERSION"]);
  });

  it("Z5, Z7: no digit of a nested param is lost, and its neighbour is another value", () => {
    const deep = (text: string) => create(RunSchema, { params: { a: `{"b":{"c":${text},"l":[${text}]}}` } });
    const known = inferKeys({ ...SAMPLE, runs: [deep("9007199254740993"), deep("9007199254740992")] });
    expect(known.params).toEqual(["a.b.c", "a.b.l"]);
    expect([...known.varying]).toEqual(["a.b.c", "a.b.l"]);
    expect(known.values.get("params.a.b.c")).toEqual(["9007199254740992", "9007199254740993"]);
  });

  it("Z3 a table that nobody arranged shows the objective and the params that differ, those of most runs first", () => {
    expect(defaultColumns(inferKeys(SAMPLE))).toEqual([
      "name",
      "status",
      "duration",
      "line.val/acc",
      "metrics.val/acc.max",
      "metrics.lr.last",
      "params.lr",
      "params.optim.betas",
      "params.optim.name",
      "params.aaa",
      "started",
    ]);
    expect(
      defaultColumns(
        inferKeys({ runs: [], environments: [], metrics: [], described: [], objective: undefined }),
      ),
    ).toEqual(["name", "status", "duration", "started"]);
  });

  it("Z15 params that are no JSON objects, or very many, are taken as they are", () => {
    const wild = create(RunSchema, {
      params: Object.fromEntries(
        Array.from({ length: 10_000 }, (_, i) => [`p${i}`, i % 2 === 0 ? "{broken" : "NaN"]),
      ),
    });
    expect(inferKeys({ ...SAMPLE, runs: [wild] }).params.length).toBeLessThanOrEqual(5_000);
  });
});
