import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { describeWorkTree } from "#lang/words/work-tree.ts";
import { Picture } from "#proto/cairn/v1/key_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { RunStatus, TrackedChanges } from "#proto/cairn/v1/run_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { TWO_WAYS, useWays } from "../testing/servers.ts";

const open = useWays();

const CODE = {
  repository: "git@x:y",
  commit: "c0ffee",
  branch: "main",
  dirtyPatch: "",
  archive: "",
  trackedChanges: TrackedChanges.SOME,
  untrackedFiles: 3,
  changedSubmodules: 0,
  patchLeftOut: "larger than 1 MiB",
  leftOutBytes: 2_200_000n,
};

describe.each(TWO_WAYS)("$name", (way) => {
  it("W200 provenance that is created, captured later, stated and cleared is read back", async () => {
    const { runs, metrics } = open(way);
    const created = await runs.createRun({ provenance: { study: "s", user: "ada", code: CODE } });
    expect(created.run!.provenance).toMatchObject({ study: "s", user: "ada", code: CODE });
    const run = { id: created.run!.id };
    await metrics.writeEnvelope({
      run,
      writer: "w",
      seq: 1n,
      captured: { study: "captured", command: ["train.py"], environment: { host: "n1" } },
      provenance: { trainingData: ["s3://c4@v3"], logsLocation: "s3://logs" },
    });
    const read = (await runs.getRun({ run })).provenance!;
    expect(read).toMatchObject({
      study: "s",
      user: "ada",
      command: ["train.py"],
      environment: { host: "n1" },
      trainingData: ["s3://c4@v3"],
      logsLocation: "s3://logs",
      code: CODE,
    });
    expect(describeWorkTree(read.code!)).toBe("dirty, patch left out (2.1 MiB), 3 untracked files");
    const changed = await runs.updateRun({
      run,
      addProvenance: { study: "t", trainingData: ["s3://c4@v4"], code: { commit: "d" } },
      clearProvenance: ["training_data", "command"],
    });
    expect(changed.provenance).toMatchObject({
      study: "t",
      user: "ada",
      trainingData: ["s3://c4@v4"],
      command: [],
      code: { commit: "d", trackedChanges: TrackedChanges.UNSPECIFIED },
    });
    expect(changed.provenance!.code!.untrackedFiles).toBe(undefined);
  });

  it("U207, U208, U209, U210: a run names who created, ended, changed and deleted it", async () => {
    const { runs, metrics } = open(way);
    const { run: made } = await runs.createRun({ name: "a" });
    const run = { id: made!.id };
    const unknown = { endedBy: "", changedBy: "", deletedBy: "" };
    expect(made).toMatchObject({ ...unknown, creator: "owner" });
    await metrics.writeEnvelope({ run, tags: { a: "b" } });
    expect(await runs.getRun({ run })).toMatchObject({ ...unknown, changedBy: "owner" });
    expect(await runs.updateRun({ run, status: RunStatus.FINISHED })).toMatchObject({ endedBy: "owner" });
    expect(await runs.deleteRun({ run })).toMatchObject({ deletedBy: "owner" });
    expect(await runs.restoreRun({ run })).toMatchObject({
      creator: "owner",
      endedBy: "owner",
      deletedBy: "",
    });
  });

  it("W200, U206: a wrong field, count or size is refused, and named", async () => {
    const { runs, metrics } = open(way);
    const created = await runs.createRun({ provenance: { study: "s" } });
    const run = { id: created.run!.id };
    const unknown = await errorOf(runs.updateRun({ run, clearProvenance: ["trainingData"] }));
    expect(unknown).toMatchObject({ code: "InvalidArgument" });
    expect(unknown.message).toContain('cannot clear "trainingData"');
    for (const code of [
      { untrackedFiles: -1 },
      { trackedChanges: 7 as TrackedChanges },
      { leftOutBytes: -1n },
    ]) {
      const refused = { code: "InvalidArgument" };
      expect(await errorOf(runs.updateRun({ run, addProvenance: { code } }))).toMatchObject(refused);
      expect(await errorOf(metrics.writeEnvelope({ run, captured: { code } }))).toMatchObject(refused);
    }
    const long = { run, provenance: { study: "x".repeat(9_000) } };
    expect(await errorOf(metrics.writeEnvelope(long))).toMatchObject({ code: "ResourceExhausted" });
    expect((await runs.getRun({ run })).provenance).toMatchObject({ study: "s" });
  });

  it("N201, N202: a key is described with its range, and only filled in if asked", async () => {
    const { metrics } = open(way);
    const namespace = `keys-${randomUUID()}`;
    const described = { namespace, key: "acc", direction: Direction.MAXIMIZE, max: 1, unit: "%" };
    expect(await metrics.describeKey({ description: described })).toMatchObject(described);
    const automatic = { namespace, key: "acc", unit: "", min: 0, max: 100, picture: Picture.ACCURACY };
    const filled = await metrics.describeKey({ description: automatic, onlyIfAbsent: true });
    expect(filled).toMatchObject({ ...described, min: 0, picture: Picture.ACCURACY });
    const below = { ...automatic, namespace: `${namespace}/below` };
    expect(await metrics.describeKey({ description: below, onlyIfAbsent: true })).toMatchObject({
      namespace,
    });
    const { keys } = await metrics.listKeys({ namespace: below.namespace });
    expect(keys).toMatchObject([{ ...described, min: 0 }]);
    for (const range of [{ min: 1, max: 1 }, { max: Number.NaN }, { min: -Infinity }]) {
      const bad = metrics.describeKey({ description: { namespace, key: "acc", ...range } });
      expect(await errorOf(bad)).toMatchObject({ code: "InvalidArgument" });
    }
  });
});
