import fc from "fast-check";
import { expect, it } from "vitest";
import { digestOf, inline, reference, putUploaded, uploaded } from "../artifact-samples.ts";
import { AUDIT, createRun, inEveryForm, NOW_US, useStores, type OpenStores } from "../stores.ts";

export function artifactBlobsContract(open: OpenStores): void {
  const bench = useStores(open);
  const store = () => bench.under.artifacts;
  const unused = async () => (await bench.under.blobLedger.listUnusedBlobs(100)).toSorted();
  const put = (run: string, content: string, name = "file.bin") =>
    putUploaded(bench.under, run, uploaded(content, { name }), NOW_US);
  /** With all versions of it. */
  const destroy = async (run: string, name: string) => {
    await store().deleteArtifact(run, name, undefined, AUDIT);
    await store().purgeReplaced(run, name, AUDIT);
  };
  const purge = async (run: string) => {
    await bench.runs.setDeleted(run, NOW_US, AUDIT);
    await bench.runs.purgeRun(run, AUDIT);
  };

  it("F4 names a digest as unused when the last artifact that has it is deleted", async () => {
    const [run, other] = [await createRun(bench.runs), await createRun(bench.runs)];
    await put(run, "shared", "one");
    await put(run, "shared", "two");
    await put(other, "shared");
    await put(other, "own", "own");
    await destroy(run, "one");
    await destroy(run, "two");
    expect(await unused()).toEqual([]);
    await destroy(other, "file.bin");
    await inEveryForm(bench, async () => expect(await unused()).toEqual([digestOf("shared")]));
  });

  it("F4 names it when it is replaced by other content, a reference or inline content", async () => {
    const run = await createRun(bench.runs);
    await put(run, "1");
    await put(run, "2");
    expect(await unused()).toEqual([]);
    await store().purgeReplaced(run, "file.bin", AUDIT);
    expect(await unused()).toEqual([digestOf("1")]);
    await store().putArtifact(run, reference(), NOW_US);
    await put(run, "3");
    await store().putArtifact(run, inline("3"), NOW_US);
    await store().purgeReplaced(run, "file.bin", AUDIT);
    expect(await unused()).toEqual([digestOf("1"), digestOf("2"), digestOf("3")].toSorted());
  });

  it("F4 does not name it when it is replaced by the same content, or when it is used again", async () => {
    const run = await createRun(bench.runs);
    await put(run, "same");
    await put(run, "same");
    expect(await unused()).toEqual([]);
    await destroy(run, "file.bin");
    expect(await unused()).toEqual([digestOf("same")]);
    await put(run, "same", "again");
    expect(await unused()).toEqual([]);
  });

  it("F4 F14 names digests that only a purged run had", async () => {
    const [run, other] = [await createRun(bench.runs), await createRun(bench.runs)];
    await put(run, "both", "a");
    await put(run, "mine", "b");
    await put(run, "mine", "c");
    await put(other, "both");
    await purge(run);
    expect(await unused()).toEqual([digestOf("mine")]);
    await purge(other);
    await inEveryForm(bench, async () =>
      expect(await unused()).toEqual([digestOf("both"), digestOf("mine")].toSorted()),
    );
  });

  it("F4 a reference with a digest and inline content use no blob", async () => {
    const run = await createRun(bench.runs);
    await store().putArtifact(run, reference({ name: "r", sha256: digestOf("x") }), NOW_US);
    await store().putArtifact(run, inline("x", { name: "i" }), NOW_US);
    expect(await bench.under.blobLedger.findUsedBlobs([digestOf("x")])).toEqual([]);
    await put(run, "x", "u");
    expect(await bench.under.blobLedger.findUsedBlobs([digestOf("y"), digestOf("x")])).toEqual([
      digestOf("x"),
    ]);
    await destroy(run, "u");
    expect(await unused()).toEqual([digestOf("x")]);
  });

  it("F4 no longer lists destroyed digests, and lists the others", async () => {
    const run = await createRun(bench.runs);
    for (const content of ["1", "2", "3"]) await put(run, content, content);
    await purge(run);
    expect(await bench.under.blobLedger.listUnusedBlobs(2)).toHaveLength(2);
    await bench.under.blobLedger.unmarkBlobs("me", [digestOf("1"), digestOf("3"), digestOf("unknown")]);
    await inEveryForm(bench, async () => expect(await unused()).toEqual([digestOf("2")]));
  });

  it("F2 lists every digest in use once, with an artifact that has it", async () => {
    const [run, other] = [await createRun(bench.runs), await createRun(bench.runs)];
    for (const content of ["1", "2", "3"]) {
      await put(run, content, `${content}.bin`);
      await put(other, content, `${content}.copy`);
    }
    await store().putArtifact(run, inline("inline", { name: "inline" }), NOW_US);
    const digests: string[] = [];
    let after: string | undefined;
    for (;;) {
      const [artifact] = await bench.under.blobLedger.listUsedBlobs({ after, limit: 1 });
      if (artifact === undefined) break;
      after = artifact.sha256;
      digests.push(artifact.sha256!);
      expect([run, other]).toContain(artifact.runId);
      expect(await store().findArtifact(artifact.runId, artifact.name, undefined)).toEqual(artifact);
    }
    expect(digests).toEqual(["1", "2", "3"].map(digestOf).toSorted());
  });

  it("F4 unused and used digests agree with a model after any sequence of puts, deletes and purges", async () => {
    const change = fc.record({
      do: fc.constantFrom("put", "put", "put", "record", "delete", "purge"),
      run: fc.nat(1),
      name: fc.constantFrom("a", "b"),
      content: fc.constantFrom("x", "y", "z"),
    });
    const property = fc.asyncProperty(fc.array(change, { maxLength: 25 }), async (changes) => {
      const salt = `${Math.random()} `;
      const runs = [await createRun(bench.runs), await createRun(bench.runs)];
      const model = new Map<string, string | undefined>();
      const ever = new Set<string>();
      for (const { do: what, run, name, content } of changes) {
        const key = `${run}/${name}`;
        if (what === "put") {
          await put(runs[run]!, salt + content, name);
          model.set(key, content);
          ever.add(content);
        } else if (what === "record") {
          await store().putArtifact(runs[run]!, inline(salt + content, { name }), NOW_US);
          model.set(key, undefined);
        } else if (what === "delete") {
          await destroy(runs[run]!, name);
          model.delete(key);
        } else {
          await purge(runs[run]!);
          runs[run] = await createRun(bench.runs);
          for (const held of model.keys()) if (held.startsWith(`${run}/`)) model.delete(held);
        }
        if (what !== "purge") await store().purgeReplaced(runs[run]!, name, AUDIT);
        const used = new Set([...model.values()].filter((one) => one !== undefined));
        const digests = [...ever].map((one) => digestOf(salt + one));
        const expected = [...used].map((one) => digestOf(salt + one)).toSorted();
        expect((await bench.under.blobLedger.findUsedBlobs(digests)).toSorted()).toEqual(expected);
        const named = new Set(await bench.under.blobLedger.listUnusedBlobs(10_000));
        for (const one of ever) expect(named.has(digestOf(salt + one))).toBe(!used.has(one));
      }
    });
    await fc.assert(property, { numRuns: 15 });
  });
}
