import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { ARTIFACT_KINDS } from "#core/types/artifact.ts";
import { CHANGED } from "#core/ports/journal.ts";
import { digestOf, inline, reference, putUploaded, uploaded } from "../artifact-samples.ts";
import {
  AUDIT,
  createRun,
  expectIntact,
  inEveryForm,
  NOW_US,
  type OpenStores,
  refused,
  useSharedStores,
} from "../stores.ts";

const MISSING = "0".repeat(32);

export function artifactRowsContract(open: OpenStores): void {
  const bench = useSharedStores(open);
  const store = () => bench.under.artifacts;
  const find = (run: string, name: string, step?: number) => store().findArtifact(run, name, step);

  it("F1 F13 keeps references, inline content and uploads, each with all its fields", async () => {
    const run = await createRun(bench.runs);
    const metadata = new Map([
      ["loss", "0.25"],
      ["shape", "[3,224,224]"],
      ["__proto__", '"mine"'],
      ["big", "9007199254740993"],
    ]);
    const said = { kind: "model", step: 7, metadata, mediaType: "application/x-test" } as const;
    const nowUs = NOW_US + 5;
    const kept = [
      await store().putArtifact(
        run,
        reference({ name: "a", ...said, sizeBytes: 2 ** 40, sha256: digestOf("a") }),
        nowUs,
      ),
      await store().putArtifact(run, inline("content", { name: "b", ...said }), nowUs),
      await putUploaded(bench.under, run, uploaded("blob", { name: "c", ...said }), nowUs),
    ];
    const shared = { runId: run, ...said, createdUs: nowUs, createdBy: "" };
    expect(kept).toEqual([
      {
        ...shared,
        name: "a",
        place: "reference",
        uri: "s3://bucket/key",
        sha256: digestOf("a"),
        sizeBytes: 2 ** 40,
      },
      { ...shared, name: "b", place: "inline", uri: "", sha256: digestOf("content"), sizeBytes: 7 },
      { ...shared, name: "c", place: "blob", uri: "", sha256: digestOf("blob"), sizeBytes: 4 },
    ]);
    await inEveryForm(bench, async () => {
      for (const artifact of kept) expect(await find(run, artifact.name, 7)).toEqual(artifact);
      expect(Buffer.from((await store().readContent(kept[1]!))!).toString()).toBe("content");
      expect(await store().readContent(kept[0]!)).toBeUndefined();
      expect(await store().readContent(kept[2]!)).toBeUndefined();
    });
  });

  it("F1 keeps a reference without any other field", async () => {
    const run = await createRun(bench.runs);
    await store().putArtifact(run, reference(), NOW_US);
    expect(await find(run, "file.bin")).toEqual({
      runId: run,
      name: "file.bin",
      step: undefined,
      kind: "file",
      place: "reference",
      uri: "s3://bucket/key",
      sha256: undefined,
      sizeBytes: undefined,
      mediaType: "application/octet-stream",
      metadata: new Map(),
      createdUs: NOW_US,
      createdBy: "",
    });
  });

  it.each(ARTIFACT_KINDS)("F1 keeps the kind %s", async (kind) => {
    const run = await createRun(bench.runs);
    await store().putArtifact(run, reference({ kind }), NOW_US);
    expect(await find(run, "file.bin")).toMatchObject({ kind });
  });

  it.each([0, 1, -1, 2 ** 53, -(2 ** 53), 2 ** 53 - 1])("F1 keeps the step %d exactly", async (step) => {
    const run = await createRun(bench.runs);
    expect(await store().putArtifact(run, reference({ step }), NOW_US)).toMatchObject({ step });
    expect(await find(run, "file.bin", step)).toMatchObject({ step });
    expect(await find(run, "file.bin", step / 2 + 1)).toBeUndefined();
  });

  it("F13 keeps any bytes inline, from none to the maximum", async () => {
    const run = await createRun(bench.runs);
    for (const content of [new Uint8Array(), Buffer.alloc(limits.artifactInlineBytesMax, "\u0000é")]) {
      const artifact = await store().putArtifact(run, inline(content), NOW_US);
      expect(artifact.sizeBytes).toBe(content.byteLength);
      expect(Buffer.from((await store().readContent(artifact))!).equals(content)).toBe(true);
    }
  });

  it("F1 replaces one of the same name and step as a whole, and no other", async () => {
    const run = await createRun(bench.runs);
    const other = await createRun(bench.runs);
    const metadata = new Map([["old", "true"]]);
    await store().putArtifact(run, inline("first", { step: 1, metadata, kind: "image" }), NOW_US);
    await store().putArtifact(run, reference({ step: 2 }), NOW_US);
    await store().putArtifact(run, reference({ step: undefined }), NOW_US);
    await store().putArtifact(other, inline("theirs", { step: 1 }), NOW_US);
    const before = (await find(run, "file.bin", 1))!;
    const replaced = await store().putArtifact(run, reference({ step: 1, uri: "file:x" }), NOW_US + 1);
    expect(replaced).toMatchObject({
      kind: "file",
      place: "reference",
      uri: "file:x",
      createdUs: NOW_US + 1,
    });
    expect(replaced.metadata.size).toBe(0);
    expect(replaced.sha256).toBeUndefined();
    // A holder of the old one must not get the content of another.
    expect(await store().readContent(before)).toBeUndefined();
    expect(await find(run, "file.bin", 2)).toMatchObject({ uri: "s3://bucket/key" });
    expect(await find(other, "file.bin", 1)).toMatchObject({ place: "inline" });
    await store().putArtifact(run, inline("second", { step: 1 }), NOW_US);
    expect(await store().readContent(before)).toBeUndefined();
  });

  it("F1 finds without a step the one without, or else the highest", async () => {
    const run = await createRun(bench.runs);
    for (const step of [-5, 30, 4]) await store().putArtifact(run, reference({ step }), NOW_US);
    expect(await find(run, "file.bin")).toMatchObject({ step: 30 });
    await store().putArtifact(run, reference({ step: undefined }), NOW_US);
    expect((await find(run, "file.bin"))?.step).toBeUndefined();
    expect(await find(run, "file.bin", -5)).toMatchObject({ step: -5 });
    expect(await find(run, "file.bin", 5)).toBeUndefined();
    expect(await find(run, "file")).toBeUndefined();
    expect(await find(run, "FILE.BIN")).toBeUndefined();
  });

  it("F11 deletes one step or all, returns how many, and audits it", async () => {
    const run = await createRun(bench.runs);
    const other = await createRun(bench.runs);
    for (const step of [undefined, 1, 2]) await store().putArtifact(run, inline("x", { step }), NOW_US);
    await store().putArtifact(run, reference({ name: "file.bin2" }), NOW_US);
    await store().putArtifact(other, reference(), NOW_US);
    const audit = { ...AUDIT, action: "delete-artifact" };
    const audited = () =>
      bench.under.access.listAudit({
        principal: undefined,
        action: "delete-artifact",
        target: undefined,
        before: undefined,
        limit: 10,
      });
    expect(await store().deleteArtifact(run, "file.bin", 1, { ...audit, target: "one" })).toBe(1);
    expect(await find(run, "file.bin", 1)).toBeUndefined();
    expect(await find(run, "file.bin")).toMatchObject({ place: "inline" });
    expect(await store().deleteArtifact(run, "file.bin", undefined, { ...audit, target: "all" })).toBe(2);
    expect(await store().deleteArtifact(run, "file.bin", undefined, audit)).toBe(0);
    expect(await store().deleteArtifact(run, "unknown", 3, audit)).toBe(0);
    await inEveryForm(bench, async () => {
      expect(await find(run, "file.bin")).toBeUndefined();
      expect(await find(run, "file.bin2")).toBeDefined();
      expect(await find(other, "file.bin")).toBeDefined();
      expect((await audited()).map(({ target }) => target)).toEqual(["all", "one"]);
    });
  });

  it("F11 deletes bindings on a name with its last version", async () => {
    const run = await createRun(bench.runs, { namespace: "lab" });
    const bind = (artifact: string) =>
      bench.under.access.changeAccess(
        [{ do: "set-closed", scope: { namespace: "lab", runId: run, artifact }, closed: true }],
        [],
      );
    const closed = async () => {
      const scopes = (await bench.under.access.loadAccess()).closed;
      return scopes.flatMap(({ runId, artifact = "" }) => (runId === run ? [artifact] : []));
    };
    for (const step of [1, 2]) await store().putArtifact(run, reference({ step }), NOW_US);
    await store().putArtifact(run, reference({ name: "other" }), NOW_US);
    await bind("file.bin");
    await bind("other");
    await store().deleteArtifact(run, "file.bin", 1, AUDIT);
    expect((await closed()).toSorted()).toEqual(["file.bin", "other"]);
    await store().deleteArtifact(run, "file.bin", 2, AUDIT);
    expect((await closed()).toSorted()).toEqual(["file.bin", "other"]);
    const { position } = await bench.under.access.loadAccess();
    await store().purgeReplaced(run, undefined, AUDIT);
    expect(await closed()).toEqual(["other"]);
    const { changes } = await bench.under.journal.changesSince(position, CHANGED.access);
    expect(changes).toHaveLength(1);
  });

  it("F14 purging a run deletes its artifacts, and another run's stay", async () => {
    const run = await createRun(bench.runs);
    const other = await createRun(bench.runs);
    const artifact = await store().putArtifact(run, inline("gone"), NOW_US);
    await store().putArtifact(other, inline("stays"), NOW_US);
    await bench.runs.setDeleted(run, NOW_US, AUDIT);
    expect(await find(run, "file.bin")).toEqual(artifact);
    await bench.runs.purgeRun(run, AUDIT);
    await inEveryForm(bench, async () => {
      await expect(find(run, "file.bin")).rejects.toEqual(refused("not-found"));
      expect(await store().readContent(artifact)).toBeUndefined();
      expect(await find(other, "file.bin")).toMatchObject({ sizeBytes: 5 });
    });
  });

  it("throws not-found for a missing run", async () => {
    const page = { prefix: "", kind: undefined, fromStep: undefined, toStep: undefined, after: undefined };
    for (const call of [
      () => store().putArtifact(MISSING, reference(), NOW_US),
      () => find(MISSING, "x"),
      () => store().listArtifacts({ runId: MISSING, ...page, limit: 1, bytesMax: 0 }),
      () => store().deleteArtifact(MISSING, "x", undefined, AUDIT),
    ]) {
      await expect(call()).rejects.toEqual(refused("not-found"));
    }
  });

  it("F2 lists artifacts for backups and for the integrity check", async () => {
    const run = await createRun(bench.runs);
    await store().putArtifact(run, inline("whole"), NOW_US);
    await expectIntact(bench);
    expect((await bench.runs.verifyRun(run)).problems).toEqual([]);
  });
}
