import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ArtifactKind, ArtifactPlace, ArtifactSchema, type Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import { artifactAt, stepsOf } from "../../../panels/artifacts/artifact-steps.ts";
import { mediaRows, nearestStep } from "./media-steps.ts";

function image(name: string, step?: bigint, more: MessageInitShape<typeof ArtifactSchema> = {}): Artifact {
  return create(ArtifactSchema, {
    runId: "01",
    name,
    kind: ArtifactKind.IMAGE,
    place: ArtifactPlace.STORED,
    ...(step !== undefined && { step }),
    ...more,
  });
}

describe("media side by side", () => {
  it("Z61 are beside those of the same name, at the latest step up to the shared one", () => {
    const rows = mediaRows([
      [image("b.png", 20n), image("b.png", 10n), image("b.png")],
      [
        image("a.png", 15n),
        image("model", 5n, { kind: ArtifactKind.MODEL }),
        image("c.png", 7n, { place: ArtifactPlace.REFERENCE }),
      ],
    ]);
    expect(rows.map(({ name }) => name)).toEqual(["a.png", "b.png"]);
    expect(stepsOf(rows.flatMap(({ artifacts }) => artifacts.flat()))).toEqual([10, 15, 20]);
    const [first = [], second = []] = rows[1]?.artifacts ?? [];
    expect([5, 10, 19, 20].map((step) => artifactAt(first, step)?.step)).toEqual([undefined, 10n, 10n, 20n]);
    expect(artifactAt(second, 20)).toBeUndefined();
    expect(artifactAt(rows[0]?.artifacts[1] ?? [], 14)).toBeUndefined();
  });

  it("Z61 have pictures first", () => {
    const table = image("a.csv", 1n, { kind: ArtifactKind.TABLE });
    const sound = image("b.wav", 1n, { kind: ArtifactKind.AUDIO });
    expect(mediaRows([[table, sound], [image("c.png")]]).map(({ name }) => name)).toEqual([
      "c.png",
      "b.wav",
      "a.csv",
    ]);
  });

  it("Z61 are shown at the step of the address, or at the nearest one", () => {
    expect(nearestStep([10, 20, 30], undefined)).toBe(30);
    expect(nearestStep([10, 20, 30], 25)).toBe(20);
    expect(nearestStep([10, 20, 30], 5)).toBe(10);
    expect(nearestStep([], 5)).toBeUndefined();
  });
});
