import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { RunSchema, RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { jsonRun, parseParam } from "./json-run.ts";

describe("jsonRun", () => {
  it.each([
    ["0.1", 0.1],
    ["1.0", 1],
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", "9007199254740993"],
    ["[1,9007199254740993]", [1, "9007199254740993"]],
    ["NaN", "NaN"],
    ["-Infinity", "-Infinity"],
    ['{"a":[NaN,"NaN and \\"Infinity"],"b":Infinity}', { a: ["NaN", 'NaN and "Infinity'], b: "Infinity" }],
    ["1e400", "1e400"],
    ['"text"', "text"],
    ["null", null],
    ["no json", "no json"],
  ])("T18 reads the param %s", (text, value) => expect(parseParam(text)).toEqual(value));

  it("T18 has times as text, and none where there is no time", () => {
    const run = create(RunSchema, {
      id: "a".repeat(32),
      status: RunStatus.RUNNING,
      params: { lr: "0.1" },
      createdUs: 1_794_736_707_368_236n,
    });
    const json: unknown = JSON.parse(JSON.stringify(jsonRun(run)));
    expect(json).toMatchObject({
      status: "running",
      params: { lr: 0.1 },
      created: "2026-11-15T09:58:27.368Z",
    });
    expect(json).not.toHaveProperty("ended");
  });

  it("T18 keeps a key named __proto__ a key", () => {
    const run = create(RunSchema, {});
    Object.defineProperty(run.params, "__proto__", { value: '"x"', enumerable: true });
    const text = JSON.stringify(jsonRun(run));
    expect(text).toContain('"__proto__":"x"');
    expect(Object.prototype).not.toHaveProperty("x");
  });
});
