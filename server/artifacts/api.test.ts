import { describe, expect, it } from "vitest";
import { ArtifactKind, ArtifactPlace } from "#proto/cairn/v1/artifact_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { sha256 } from "../testing/artifact-client.ts";
import { useWays, TWO_WAYS } from "../testing/servers.ts";

const wayIn = useWays();

describe.each(TWO_WAYS.map((way) => [way.name, way] as const))("artifacts by %s", (_, way) => {
  const api = () => wayIn(way);
  const newRun = async () => {
    const { run } = await api().runs.createRun({ namespace: "files" });
    return { id: run!.id };
  };

  it("F1 W1 records a reference with all its metadata, and returns it", async () => {
    const run = await newRun();
    const artifact = await api().artifacts.recordArtifact({
      run,
      artifact: {
        name: "checkpoints/épo\u{1f4c8}.pt",
        step: 2n ** 53n,
        kind: ArtifactKind.MODEL,
        uri: "s3://bucket/key?x=1",
        mediaType: "application/x-model",
        metadata: { val_acc: "0.5", layers: "[ 1, 2 ]" },
        sha256: sha256("elsewhere"),
        sizeBytes: 2n ** 50n,
      },
    });
    expect(artifact).toMatchObject({
      runId: run.id,
      name: "checkpoints/épo\u{1f4c8}.pt",
      step: 2n ** 53n,
      kind: ArtifactKind.MODEL,
      place: ArtifactPlace.REFERENCE,
      uri: "s3://bucket/key?x=1",
      sha256: sha256("elsewhere"),
      sizeBytes: 2n ** 50n,
      mediaType: "application/x-model",
      metadata: { val_acc: "0.5", layers: "[1,2]" },
    });
    expect(artifact.createdUs).toBeGreaterThan(0n);
    const found = await api().artifacts.getArtifact({ run, name: artifact.name });
    expect({ ...found, position: "" }).toEqual(artifact);
  });

  it("F13 records content that is sent in the message", async () => {
    const run = await newRun();
    for (const content of [new Uint8Array(), Buffer.from([0, 255, 128, 10])]) {
      const artifact = await api().artifacts.recordArtifact({ run, artifact: { name: "x.png", content } });
      expect(artifact).toMatchObject({
        place: ArtifactPlace.STORED,
        kind: ArtifactKind.FILE,
        sha256: sha256(content),
        sizeBytes: BigInt(content.length),
        mediaType: "image/png",
      });
      expect(artifact.step).toBeUndefined();
    }
  });

  it("F10 lists pages by name and step, with filters", async () => {
    const run = await newRun();
    for (const [name, step] of [
      ["b", 2n],
      ["a/x", undefined],
      ["b", undefined],
      ["b", 1n],
      ["a/y", 5n],
    ] as const) {
      const kind = step === undefined ? ArtifactKind.TABLE : ArtifactKind.IMAGE;
      await api().artifacts.recordArtifact({
        run,
        artifact: { name, kind, uri: "x:y", ...(step !== undefined && { step }) },
      });
    }
    const list = async (request: object, pageSize = 0) => {
      const all: string[] = [];
      let pageToken = "";
      do {
        const page = await api().artifacts.listArtifacts({ run, ...request, pageSize, pageToken });
        all.push(...page.artifacts.map(({ name, step }) => `${name}@${step ?? "-"}`));
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      return all.join(" ");
    };
    for (const pageSize of [0, 1, 2]) {
      expect(await list({}, pageSize)).toBe("a/x@- a/y@5 b@- b@1 b@2");
    }
    expect(await list({ prefix: "a/" })).toBe("a/x@- a/y@5");
    expect(await list({ kind: ArtifactKind.TABLE })).toBe("a/x@- b@-");
    expect(await list({ fromStep: 2n })).toBe("a/y@5 b@2");
    expect(await list({ fromStep: 1n, toStep: 2n, prefix: "b" })).toBe("b@1 b@2");
  });

  it("F1 deletes one step, or all of a name", async () => {
    const run = await newRun();
    for (const step of [1n, 2n, 3n]) {
      await api().artifacts.recordArtifact({ run, artifact: { name: "m", step, uri: "x:y" } });
    }
    const remove = async (step?: bigint) => {
      const { deletedCount } = await api().artifacts.deleteArtifact({
        run,
        name: "m",
        ...(step && { step }),
      });
      return deletedCount;
    };
    expect(await remove(2n)).toBe(1n);
    expect((await api().artifacts.getArtifact({ run, name: "m" })).step).toBe(3n);
    expect(await remove()).toBe(2n);
    expect((await errorOf(remove())).code).toBe("NotFound");
    expect((await errorOf(api().artifacts.getArtifact({ run, name: "m" }))).code).toBe("NotFound");
  });

  it.each([
    ["both a URI and content", { name: "x", uri: "a:b", content: new Uint8Array() }, "InvalidArgument"],
    ["neither", { name: "x" }, "InvalidArgument"],
    ["an unknown kind", { name: "x", uri: "a:b", kind: 99 as ArtifactKind }, "InvalidArgument"],
    ["a wrong digest", { name: "x", content: Buffer.from("a"), sha256: sha256("b") }, "InvalidArgument"],
    ["an invalid digest", { name: "x", uri: "a:b", sha256: "abc" }, "InvalidArgument"],
    ["a negative size", { name: "x", uri: "a:b", sizeBytes: -1n }, "InvalidArgument"],
    ["metadata that is not JSON", { name: "x", uri: "a:b", metadata: { a: "{" } }, "InvalidArgument"],
    ["a step above 2^53", { name: "x", uri: "a:b", step: 2n ** 53n + 1n }, "InvalidArgument"],
    ["too much content", { name: "x", content: new Uint8Array((256 << 10) + 1) }, "ResourceExhausted"],
    ["a name that climbs", { name: "../x", uri: "a:b" }, "InvalidArgument"],
    ["a URI that is too long", { name: "x", uri: "a".repeat(9000) }, "ResourceExhausted"],
    [
      "too much metadata",
      { name: "x", uri: "a:b", metadata: { a: `"${"x".repeat(60_000)}"`, b: `"${"x".repeat(6_000)}"` } },
      "ResourceExhausted",
    ],
  ])("F1 F8 refuses %s", async (__, artifact, code) => {
    const run = await newRun();
    const refused = await errorOf(api().artifacts.recordArtifact({ run, artifact }));
    expect(refused.code).toBe(code);
    expect((await api().artifacts.listArtifacts({ run })).artifacts).toEqual([]);
  });

  it("F10 refuses an invalid page token", async () => {
    const run = await newRun();
    for (const pageToken of ["x", "bm9uZQ", Buffer.from("[1,2]").toString("base64url")]) {
      expect((await errorOf(api().artifacts.listArtifacts({ run, pageToken }))).code).toBe("InvalidArgument");
    }
  });
});
