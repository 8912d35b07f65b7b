import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { RunSchema, RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { durationUs, machineOf, ownerOf } from "./run-facts.ts";

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
  });

  it("Z42 count the time while it runs, and stop when it ends", () => {
    const of = (more: object, nowMs: number) =>
      durationUs(create(RunSchema, { startedUs: 1_000_000n, ...more }), nowMs);
    expect(of({ status: RunStatus.RUNNING }, 5_000)).toBe(4_000_000);
    expect(of({ status: RunStatus.FINISHED, endedUs: 3_000_000n }, 5_000)).toBe(2_000_000);
    expect(of({ status: RunStatus.SCHEDULED }, 5_000)).toBeUndefined();
    // By a clock that is ahead of ours.
    expect(of({ status: RunStatus.RUNNING }, 0)).toBe(0);
  });
});
