import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ArtifactKind, ArtifactSchema } from "#proto/cairn/v1/artifact_pb.ts";
import { stepsOf } from "../../../panels/artifacts/artifact-steps.ts";
import { mediaKeys, nearestStep, versionAt } from "./media-steps.ts";

const image = (name: string, step?: bigint) =>
  create(ArtifactSchema, { name, kind: ArtifactKind.IMAGE, ...(step !== undefined && { step }) });

describe("media", () => {
  it("Z44 has one stepper for all keys", () => {
    const keys = mediaKeys([
      image("b", 20n),
      image("b", 5n),
      image("a", 10n),
      image("fixed"),
      create(ArtifactSchema, { name: "model.pt", kind: ArtifactKind.MODEL, step: 7n }),
    ]);
    expect(keys.map(({ name }) => name)).toEqual(["b", "a", "fixed"]);
    expect(stepsOf(keys.flatMap(({ versions }) => versions))).toEqual([5, 10, 20]);
    const shown = (step: number) => keys.map((key) => versionAt(key, step).step);
    expect(shown(10)).toEqual([5n, 10n, undefined]);
    expect(shown(99)).toEqual([20n, 10n, undefined]);
    expect(shown(1)).toEqual([5n, 10n, undefined]);
  });

  it("Z44 finds the step nearest to the best one", () => {
    expect([0, 14, 15, 16, 999].map((step) => nearestStep([5, 10, 20], step))).toEqual([0, 1, 1, 2, 2]);
  });
});
