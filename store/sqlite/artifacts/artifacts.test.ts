import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { digestOf, inline, reference, putUploaded, uploaded } from "#store/contract/artifact-samples.ts";
import { AUDIT, createRun, NOW_US, refused } from "#store/contract/stores.ts";
import { flipped, openIn, openOnDisk, tamper, unpackStore } from "../testing/under-test.ts";

let under: Awaited<ReturnType<typeof openOnDisk>>;
let run: string;
beforeEach(async () => {
  under = await openOnDisk();
  run = await createRun(under.runs);
});
afterEach(() => under.discard());

it("F2 inline content that was damaged is named and never returned", async () => {
  const good = await under.artifacts.putArtifact(run, inline("good", { name: "good" }), NOW_US);
  const bad = await under.artifacts.putArtifact(run, inline("bad", { name: "bad" }), NOW_US);
  tamper(under.data, (db) => {
    const [row] = db.prepare("SELECT artifact, content FROM artifact_content ORDER BY artifact DESC").all();
    db.prepare("UPDATE artifact_content SET content = ? WHERE artifact = ?").run(
      flipped(row!["content"] as Uint8Array, 1),
      row!["artifact"]!,
    );
  });
  await expect(under.artifacts.readContent(bad)).rejects.toEqual(refused("corrupt"));
  expect(Buffer.from((await under.artifacts.readContent(good))!).toString()).toBe("good");
  expect((await under.runs.verifyRun(run)).problems).toEqual(['artifact "bad" is damaged']);
  expect((await under.engine.integrity!.checkIntegrity()).problems).toEqual([
    `run ${run}: artifact "bad" is damaged`,
  ]);
});

it("F1 a run has a limited number of artifacts, and at the limit still replaces those it has", async () => {
  await putUploaded(under, run, uploaded("first", { name: "first" }), NOW_US);
  tamper(under.data, (db) => {
    db.prepare("UPDATE artifact_count SET count = ?").run(limits.artifactsPerRunMax - 1);
  });
  await under.artifacts.putArtifact(run, reference({ name: "last" }), NOW_US);
  const exhausted = refused("exhausted", "LIMIT_EXCEEDED");
  await expect(under.artifacts.putArtifact(run, reference({ name: "more" }), NOW_US)).rejects.toEqual(
    exhausted,
  );
  await expect(
    under.artifacts.putArtifact(run, reference({ name: "last", step: 1 }), NOW_US),
  ).rejects.toEqual(exhausted);
  await under.artifacts.putArtifact(run, inline("other", { name: "first" }), NOW_US);
  const other = await createRun(under.runs);
  await under.artifacts.putArtifact(other, reference({ name: "more" }), NOW_US);
});

it("A39 versions of a store from before numbers of their own keep theirs, and the next ones come after them", async () => {
  const { directory, data } = await unpackStore("format-9.db.gz");
  const old = await openIn(directory, data);
  const runId = "1".padStart(32, "0");
  const versions = async () => {
    const page = { runId, prefix: "", after: undefined, limit: 9, bytesMax: 1 << 20 };
    return (await old.artifacts.listReplaced(page)).rows.map(({ version }) => version);
  };
  expect(await versions()).toEqual([40]);
  const third = inline("three", { name: "model" });
  await old.artifacts.putArtifact(runId, third, NOW_US + 2, { ...AUDIT, principal: "ada" });
  expect(await versions()).toEqual([41, 40]);
  const restored = { runId, name: "model", version: 40 };
  expect(await old.artifacts.restoreReplaced(restored, NOW_US + 3, AUDIT)).toMatchObject({
    createdBy: "ada",
  });
  await old.discard();
});

it("F15 F16 pinned digests stay pinned while the store is replaced by a backup", async () => {
  const digest = digestOf("pinned");
  const copy = join(dirname(under.data), "copy.db");
  await under.engine.copies!.backup(copy);
  await under.blobLedger.pinBlob(digest, "me", NOW_US, NOW_US + 1);
  await under.engine.copies!.restore(copy, { audit: AUDIT });
  expect(await under.blobLedger.markBlobs([digest], "you", NOW_US, NOW_US + 1)).toEqual([]);
  await under.blobLedger.unpinBlob(digest, "me");
  expect(await under.blobLedger.markBlobs([digest], "you", NOW_US, NOW_US + 1)).toEqual([digest]);
});
