import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import type { ReplacedArtifact } from "#core/types/artifact.ts";
import type { AuditRecord } from "#core/ports/access-store.ts";
import { digestOf, inline, reference, putUploaded, uploaded } from "../artifact-samples.ts";
import {
  AUDIT,
  createRun,
  envelope,
  inEveryForm,
  NOW_US,
  refused,
  useSharedStores,
  type OpenStores,
} from "../stores.ts";

const GIB = 2 ** 30;

/** Versions of artifacts that were replaced or deleted. */
export function artifactVersionsContract(open: OpenStores): void {
  const bench = useSharedStores(open);
  const store = () => bench.under.artifacts;
  const by = (principal: string, action = "replace-artifact"): AuditRecord => ({
    ...AUDIT,
    principal,
    action,
  });
  const put = (run: string, content: string, principal: string, name = "model", nowUs = NOW_US) =>
    store().putArtifact(run, inline(content, { name }), nowUs, {
      ...by(principal),
      target: `${run}/${name}`,
    });
  const list = async (run: string, prefix = ""): Promise<ReplacedArtifact[]> => {
    const page = { runId: run, prefix, after: undefined, limit: 100, bytesMax: 1 << 20 };
    return (await store().listReplaced(page)).rows;
  };
  const digests = async (run: string) => (await list(run)).map(({ sha256 }) => sha256);
  const of = (...contents: string[]) => contents.map(digestOf);
  const audited = async (target: string) => {
    const asked = { principal: undefined, action: undefined, target, before: undefined, limit: 100 };
    return (await bench.under.access.listAudit(asked)).reverse();
  };
  const find = (run: string, name = "model") => store().findArtifact(run, name, undefined);
  const restore = (run: string, version: number, principal = "ada", name = "model") =>
    store().restoreReplaced({ runId: run, name, version }, NOW_US, by(principal, "restore-artifact"));

  it("A39 knows who wrote an artifact, and keeps what another principal replaces", async () => {
    const run = await createRun(bench.runs);
    expect(await put(run, "one", "ada")).toMatchObject({ createdBy: "ada" });
    expect(await put(run, "two", "eve", "model", NOW_US + 5)).toMatchObject({ createdBy: "eve" });
    await inEveryForm(bench, async () => {
      const [kept, ...others] = await list(run);
      expect(others).toEqual([]);
      expect(kept).toMatchObject({
        name: "model",
        sha256: digestOf("one"),
        createdBy: "ada",
        createdUs: NOW_US,
        replacedBy: "eve",
        replacedUs: NOW_US + 5,
      });
      expect(await audited(`${run}/model`)).toMatchObject([
        { principal: "eve", facts: { author: "ada", version: String(kept!.version) } },
      ]);
    });
  });

  it("A39 changes and audits nothing when the content is the same", async () => {
    const run = await createRun(bench.runs);
    await put(run, "one", "ada");
    const again = await put(run, "one", "eve", "model", NOW_US + 1);
    expect(again).toMatchObject({ createdBy: "ada", createdUs: NOW_US });
    await putUploaded(bench.under, run, uploaded("one", { name: "model" }), NOW_US, by("eve"));
    expect(await find(run)).toMatchObject({ place: "blob", createdBy: "ada" });
    expect(await list(run)).toEqual([]);
    expect(await audited(`${run}/model`)).toEqual([]);
  });

  it("A39 keeps only the last of the versions a principal overwrites itself, and evicts none of others", async () => {
    const run = await createRun(bench.runs);
    await put(run, "of ada", "ada");
    for (let i = 0; i < 2 * limits.replacedPerArtifactMax; i++) await put(run, `${i}`, "eve");
    expect(await digests(run)).toEqual(of(String(2 * limits.replacedPerArtifactMax - 2), "of ada"));
    expect(await audited(`${run}/model`)).toHaveLength(2 * limits.replacedPerArtifactMax);
  });

  it("A39 keeps a version its principal overwrote itself when another one overwrites twice", async () => {
    const run = await createRun(bench.runs);
    await put(run, "first of bob", "bob");
    await put(run, "second of bob", "bob");
    await put(run, "first of eve", "eve");
    await put(run, "second of eve", "eve");
    expect(await digests(run)).toEqual(of("first of eve", "second of bob", "first of bob"));
  });

  it("A39 keeps the version that was in place longest, however often its author overwrites it", async () => {
    const run = await createRun(bench.runs);
    const hour = 3_600_000_000;
    await put(run, "six weeks", "bob", "model", NOW_US);
    for (let i = 0; i < 5; i++) await put(run, `junk ${i}`, "bob", "model", NOW_US + hour + i);
    expect(await digests(run)).toEqual(of("junk 3", "six weeks"));
  });

  it("A39 two principals that take turns evict no version of a third", async () => {
    const run = await createRun(bench.runs);
    await put(run, "of ada", "ada");
    for (let i = 0; i < 2 * limits.replacedPerArtifactMax; i++) {
      await put(run, `${i}`, i % 2 === 0 ? "bob" : "eve");
    }
    const kept = await digests(run);
    expect(kept).toHaveLength(limits.replacedPerArtifactMax + 1);
    expect(kept.at(-1)).toBe(digestOf("of ada"));
  });

  it("A39 keeps a limited number of versions of an artifact, the newest", async () => {
    const run = await createRun(bench.runs);
    const total = limits.replacedPerArtifactMax + 5;
    for (let i = 0; i <= total; i++) await put(run, `${i}`, i % 2 === 0 ? "ada" : "eve");
    const expected = Array.from({ length: limits.replacedPerArtifactMax }, (_, i) => String(total - 1 - i));
    expect(await digests(run)).toEqual(of(...expected));
  });

  it("A39 bounds the bytes of a run: versions a principal overwrote itself are evicted first, then the oldest", async () => {
    const run = await createRun(bench.runs);
    const large = (content: string, principal: string, name: string, gib: number) => {
      const blob = { digest: digestOf(content), sizeBytes: gib * GIB };
      return putUploaded(bench.under, run, uploaded(content, { name, blob }), NOW_US, by(principal));
    };
    await large("a1", "ada", "a", 60);
    await large("a2", "eve", "a", 1);
    expect(await digests(run)).toEqual(of("a1"));
    await large("b1", "eve", "b", 60);
    await large("b2", "eve", "b", 1);
    expect(await digests(run)).toEqual(of("a1"));
    await large("c1", "ada", "c", 60);
    await large("c2", "eve", "c", 1);
    expect(await digests(run)).toEqual(of("c1"));
    await large("d1", "ada", "d", 101);
    await large("d2", "eve", "d", 1);
    expect(await digests(run)).toEqual(of("c1"));
    expect(await bench.under.blobLedger.findUsedBlobs(of("a1", "b1", "c1", "d1"))).toEqual(of("c1"));
  });

  it("A39 keeps deleted artifacts, and restores a version with its bytes and its author", async () => {
    const run = await createRun(bench.runs);
    await put(run, "one", "ada");
    await store().deleteArtifact(run, "model", undefined, by("eve", "delete-artifact"));
    expect(await find(run)).toBeUndefined();
    const [deleted] = await list(run);
    expect(deleted).toMatchObject({ createdBy: "ada", replacedBy: "eve" });
    await put(run, "two", "eve");
    const back = await restore(run, deleted!.version);
    expect(back).toMatchObject({ sha256: digestOf("one"), createdBy: "ada", createdUs: NOW_US });
    await inEveryForm(bench, async () => {
      expect(Buffer.from((await store().readContent(back))!).toString()).toBe("one");
      expect(await digests(run)).toEqual(of("two"));
    });
    const gone = restore(run, deleted!.version);
    await expect(gone).rejects.toEqual(refused("not-found"));
    const [two] = await list(run);
    await expect(restore(run, two!.version, "ada", "other")).rejects.toEqual(refused("not-found"));
    const elsewhere = await createRun(bench.runs);
    await expect(restore(elsewhere, two!.version)).rejects.toEqual(refused("not-found"));
  });

  it("A39 restores a version that its principal has overwritten itself", async () => {
    const run = await createRun(bench.runs);
    await putUploaded(bench.under, run, uploaded("one", { name: "model" }), NOW_US, by("ada"));
    await putUploaded(bench.under, run, uploaded("two", { name: "model" }), NOW_US, by("ada"));
    const [one] = await list(run);
    expect(await restore(run, one!.version)).toMatchObject({ sha256: digestOf("one") });
    expect(await digests(run)).toEqual(of("two"));
    expect(await bench.under.blobLedger.findUsedBlobs(of("one", "two"))).toEqual(of("one", "two"));
    expect(await bench.under.blobLedger.listUnusedBlobs(100)).not.toContain(digestOf("one"));
  });

  it("A39 lists newest first, by prefix and page by page", async () => {
    const run = await createRun(bench.runs);
    for (const [i, name] of ["a/1", "a/2", "b", "a%"].entries()) {
      await put(run, `${name} one`, "ada", name);
      await put(run, `${name} two`, "eve", name, NOW_US + i);
    }
    expect((await list(run)).map(({ name }) => name)).toEqual(["a%", "b", "a/2", "a/1"]);
    expect((await list(run, "a/")).map(({ name }) => name)).toEqual(["a/2", "a/1"]);
    const names: string[] = [];
    let after: ReplacedArtifact | undefined;
    for (;;) {
      const page = { runId: run, prefix: "", after, limit: 1, bytesMax: 0 };
      const { rows, more } = await store().listReplaced(page);
      names.push(...rows.map(({ name }) => name));
      after = rows.at(-1);
      if (!more) break;
    }
    expect(names).toEqual(["a%", "b", "a/2", "a/1"]);
  });

  it("A20, A39 numbers the versions of each name separately, and reuses no number", async () => {
    const run = await createRun(bench.runs);
    const other = await createRun(bench.runs);
    const numbers = async (name: string) =>
      (await list(run, name)).map(({ version }) => version).toSorted((a, b) => b - a);
    await put(run, "one", "ada", "mine");
    await put(run, "two", "eve", "mine", NOW_US + 1);
    expect(await numbers("mine")).toEqual([1]);
    for (let i = 0; i < 5; i++) {
      await put(other, `${i}`, i % 2 === 0 ? "ada" : "eve", "mine");
      await put(run, `${i}`, i % 2 === 0 ? "ada" : "eve", "hidden");
    }
    await put(run, "three", "ada", "mine", NOW_US + 2);
    expect(await numbers("mine")).toEqual([2, 1]);
    await restore(run, 2, "bob", "mine");
    expect(await numbers("mine")).toEqual([3, 1]);
    await store().purgeReplaced(run, "mine", AUDIT);
    await put(run, "four", "eve", "mine");
    expect(await numbers("mine")).toEqual([4]);
    // Nothing of the name is left, so its numbers may be reused.
    await store().deleteArtifact(run, "mine", undefined, AUDIT);
    await store().purgeReplaced(run, "mine", AUDIT);
    await put(run, "one", "ada", "mine");
    await put(run, "two", "eve", "mine");
    expect(await numbers("mine")).toEqual([1]);
  });

  it("A39 destroys expired versions, and frees their content", async () => {
    const run = await createRun(bench.runs);
    // Of the other tests.
    await store().expireReplaced(NOW_US + 1_000, 10_000);
    const upload = (content: string, principal: string, nowUs: number) =>
      putUploaded(bench.under, run, uploaded(content, { name: "model" }), nowUs, by(principal));
    await upload("early", "ada", NOW_US);
    await upload("late", "eve", NOW_US + 1);
    await upload("last", "ada", NOW_US + 2);
    expect(await store().expireReplaced(NOW_US + 1, 100)).toBe(0);
    expect(await store().expireReplaced(NOW_US + 2, 100)).toBe(1);
    expect(await digests(run)).toEqual(of("late"));
    expect(await bench.under.blobLedger.listUnusedBlobs(100)).toContain(digestOf("early"));
    await store().deleteArtifact(run, "model", undefined, { ...by("ada"), timeUs: NOW_US + 3 });
    const scope = { namespace: "lab", runId: run, artifact: "model" };
    await bench.under.access.changeAccess([{ do: "set-closed", scope, closed: true }], []);
    const isClosed = async () => (await bench.under.access.loadAccess()).closed.length > 0;
    expect([await store().expireReplaced(NOW_US + 9, 1), await isClosed()]).toEqual([1, true]);
    expect([await store().expireReplaced(NOW_US + 9, 9), await isClosed()]).toEqual([1, false]);
  });

  it("A38 A39 audits a replacement by an envelope when the artifact was another principal's", async () => {
    const run = await createRun(bench.runs);
    let seq = 0;
    const send = (content: string, principal: string) => {
      const record = { ...by(principal), target: `${run}/model` };
      return bench.journal.append(
        [
          {
            ...envelope(run, ++seq),
            artifacts: [inline(content, { name: "model" })],
            audit: { change: undefined, artifacts: [record] },
          },
        ],
        NOW_US,
      );
    };
    for (const content of ["1", "2", "3"]) await send(content, "ada");
    expect(await audited(`${run}/model`)).toEqual([]);
    expect(await digests(run)).toEqual(of("2"));
    await send("4", "eve");
    expect(await audited(`${run}/model`)).toMatchObject([{ principal: "eve", facts: { author: "ada" } }]);
    expect(await find(run)).toMatchObject({ createdBy: "eve" });
    expect(await digests(run)).toEqual(of("3", "2"));
  });

  it("A39 keeps references, too, and purges a run with its versions", async () => {
    const run = await createRun(bench.runs);
    await store().putArtifact(run, reference({ name: "model", sizeBytes: 2 ** 50 }), NOW_US, by("ada"));
    await putUploaded(bench.under, run, uploaded("of the run", { name: "model" }), NOW_US, by("eve"));
    await store().putArtifact(run, reference({ name: "model", uri: "s3://other" }), NOW_US, by("ada"));
    expect(await list(run)).toHaveLength(2);
    await bench.runs.setDeleted(run, NOW_US, AUDIT);
    await bench.runs.purgeRun(run, AUDIT);
    await expect(list(run)).rejects.toEqual(refused("not-found"));
    expect(await bench.under.blobLedger.listUnusedBlobs(100)).toContain(digestOf("of the run"));
  });
}
