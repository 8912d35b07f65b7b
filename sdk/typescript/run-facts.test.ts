import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { readField } from "#lang/query/field-text.ts";
import { RunSchema, RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { durationOf, machineOf, originOf, ownerOf, startUs, valueText } from "./run-facts.ts";

describe("the facts of a run", () => {
  it("Z42 are user and machine, as far as recorded", () => {
    const run = create(RunSchema, {
      tags: { owner: "mei" },
      provenance: {
        environment: { user: "root", host: "a01", "gpu.0": "H100", "gpu.1": "H100", "gpu.2": "A100" },
      },
    });
    expect([ownerOf(run), machineOf(run)]).toEqual(["mei", "a01 · 2 × H100, A100"]);
    expect([ownerOf(create(RunSchema)), machineOf(create(RunSchema))]).toEqual(["", ""]);
    expect(ownerOf(create(RunSchema, { provenance: { environment: { user: "root" } } }))).toBe("root");
    // The principal says more than the user of a shared machine, unless it is only the owner of the machine.
    expect(ownerOf(create(RunSchema, { creator: "ada", provenance: { user: "root" } }))).toBe("ada");
    expect(ownerOf(create(RunSchema, { creator: "owner", provenance: { user: "al" } }))).toBe("al");
    expect(ownerOf(create(RunSchema, { creator: "owner" }))).toBe("owner");
    expect(ownerOf(create(RunSchema, { creator: "ada", tags: { owner: "mei" } }))).toBe("mei");
  });

  it("Z42 count the time while it runs, and stop when it ends", () => {
    const of = (more: object, nowMs: number) =>
      durationOf(create(RunSchema, { startedUs: 1_000_000n, ...more }), nowMs);
    expect(of({ status: RunStatus.RUNNING }, 5_000)).toBe(4);
    expect(of({ status: RunStatus.FINISHED, endedUs: 3_000_000n }, 5_000)).toBe(2);
    expect(of({ startedUs: 0n, status: RunStatus.SCHEDULED }, 5_000)).toBeUndefined();
    expect(of({ status: RunStatus.SCHEDULED }, 5_000)).toBe(4);
    // By a clock that is ahead of ours.
    expect(of({ status: RunStatus.RUNNING }, 0)).toBe(0);
  });

  it("Z94, T42: a run begins when it started, else when it was created, or at an earlier first point", () => {
    expect(startUs({ startedUs: 0n, createdUs: 7n })).toBe(7);
    const start = startUs({ startedUs: 9n, createdUs: 7n });
    expect([undefined, 12n, 8n].map((first) => originOf(start, first))).toEqual([9, 9, 8]);
  });

  it("T22, Z14: values for programs are whole, and keys are only those that were logged", () => {
    const run = create(RunSchema, {
      aliases: ["job 7", "best"],
      startedUs: 1_000_000n,
      endedUs: 1_000_001n,
      status: RunStatus.FINISHED,
      params: { lr: "1.0", text: '"1"' },
      metrics: { "loss.min": -0 },
    });
    const of = (text: string) => valueText(run, readField(text), 0);
    expect(["alias", "started", "duration", "status"].map(of)).toEqual([
      "job 7, best",
      "1970-01-01T00:00:01.000Z",
      "0.000001",
      "finished",
    ]);
    expect(["params.lr", "params.text", "metrics.loss.min"].map(of)).toEqual(["1.0", "1", "-0"]);
    expect(["params.constructor", "tags.constructor", "updated"].map(of)).toEqual(["", "", ""]);
  });
});
