import { expect, it } from "vitest";
import type { Artifact, ArtifactRecord } from "#core/types/artifact.ts";
import { inline, reference } from "../artifact-samples.ts";
import { FeedRecorder } from "../feed-recorder.ts";
import {
  appendOne,
  AUDIT,
  createRun,
  envelope,
  NOW_US,
  numbers,
  useStores,
  type OpenStores,
} from "../stores.ts";

/** A follower of runs is sent their models, too. */
export function modelFeedContract(open: OpenStores): void {
  const bench = useStores(open);
  const store = () => bench.under.artifacts;
  const model = (name: string, parts: Partial<ArtifactRecord> = {}) =>
    reference({ name, kind: "model", ...parts });
  const put = (run: string, artifact: ArtifactRecord, nowUs = NOW_US) =>
    store().putArtifact(run, artifact, nowUs);
  const remove = (run: string, name: string, step?: number) => store().deleteArtifact(run, name, step, AUDIT);
  const purge = async (run: string) => {
    await bench.runs.setDeleted(run, NOW_US, AUDIT);
    await bench.runs.purgeRun(run, AUDIT);
  };
  const versions = async (runId: string) => {
    const all = { runId, prefix: "", after: undefined, limit: 100, bytesMax: Infinity };
    return (await store().listReplaced(all)).rows;
  };
  /** What the store lists, in the form of the feed. */
  const stored = async (runId: string) => {
    const all = { prefix: "", fromStep: undefined, toStep: undefined, after: undefined };
    const bound = { limit: 100_000, bytesMax: Infinity };
    const { rows } = await store().listArtifacts({ runId, kind: "model", ...all, ...bound });
    return rows.map(({ name, step, sizeBytes, createdUs }: Artifact) => ({
      name,
      step,
      sizeBytes,
      createdUs,
    }));
  };
  /** The feed of every follower is the list of the store, for existing runs. */
  const agree = async (ids: readonly string[], followers: readonly FeedRecorder[] = [bench.under.feed]) => {
    for (const feed of followers) {
      await feed.catchUp();
      for (const id of ids) expect(feed.modelsOf(id)).toEqual(await stored(id));
      expect(feed.models.size).toBe(ids.reduce((sum, id) => sum + feed.modelsOf(id).length, 0));
    }
  };

  it("M11 follows a model that is put, replaced, given another kind, deleted and restored", async () => {
    const id = await createRun(bench.runs);
    const { feed } = bench.under;
    await put(id, model("a.pt"));
    await put(id, model("a.pt", { step: 3, sizeBytes: 10 }));
    await put(id, reference({ name: "picture.png", kind: "image" }));
    await agree([id]);
    expect(feed.modelsOf(id)).toEqual([
      { name: "a.pt", step: undefined, sizeBytes: undefined, createdUs: NOW_US },
      { name: "a.pt", step: 3, sizeBytes: 10, createdUs: NOW_US },
    ]);
    await put(id, inline("other", { name: "a.pt", kind: "model" }), NOW_US + 1);
    await agree([id]);
    expect(feed.modelsOf(id)[0]).toMatchObject({ sizeBytes: 5, createdUs: NOW_US + 1 });
    // The same content again.
    await put(id, inline("other", { name: "a.pt", kind: "model" }), NOW_US + 2);
    await agree([id]);
    await put(id, inline("other", { name: "a.pt", kind: "file" }), NOW_US + 3);
    await agree([id]);
    expect(feed.modelsOf(id)).toHaveLength(1);
    await put(id, model("picture.png"));
    await agree([id]);
    expect(await remove(id, "a.pt", 3)).toBe(1);
    await agree([id]);
    const deleted = (await versions(id)).find(({ step }) => step === 3)!;
    await store().restoreReplaced({ runId: id, name: "a.pt", version: deleted.version }, NOW_US, AUDIT);
    await agree([id]);
    expect(feed.modelsOf(id).map(({ name, step }) => [name, step])).toEqual([
      ["a.pt", 3],
      ["picture.png", undefined],
    ]);
    await store().purgeReplaced(id, undefined, AUDIT);
    await store().expireReplaced(NOW_US + 1e9, 100);
    await agree([id]);
    for (const name of ["a.pt", "picture.png"]) await remove(id, name);
    await agree([id]);
    expect(feed.models.size).toBe(0);
  });

  it("M11 follows the models of envelopes, and deletions of all steps at once", async () => {
    const id = await createRun(bench.runs);
    const artifacts = Array.from({ length: 50 }, (_, step) => model("all.pt", { step }));
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1])], artifacts }));
    await appendOne(
      bench.journal,
      envelope(id, 0, { artifacts: [model("one.pt"), model("one.pt", { sizeBytes: 7 })] }),
    );
    await agree([id]);
    expect(bench.under.feed.modelsOf(id)).toHaveLength(51);
    await remove(id, "all.pt");
    await agree([id]);
    expect(bench.under.feed.modelsOf(id)).toMatchObject([{ name: "one.pt", sizeBytes: 7 }]);
  });

  it("M11 keeps models when series of the run are deleted, and drops them with a purge", async () => {
    const [id, other] = [await createRun(bench.runs), await createRun(bench.runs)];
    for (const run of [id, other]) await put(run, model("a.pt"));
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1, 2])] }));
    await agree([id, other]);
    const matchers = [{ label: "", op: "=", value: "loss" } as const];
    const range = { axis: "step", from: undefined, to: undefined, after: undefined } as const;
    const request = { owner: { runId: id }, matchers, ...range, pointsMax: 100, seriesMax: 1 };
    await bench.points.deleteSeries(request, AUDIT);
    await agree([id, other]);
    expect(bench.under.feed.metricKeys(id)).toEqual([]);
    await purge(id);
    await agree([other]);
  });

  it("M11 sends none where none changed", async () => {
    const id = await createRun(bench.runs);
    await put(id, model("a.pt"));
    await agree([id]);
    const { feed } = bench.under;
    const known = feed.batches.length;
    await put(id, reference({ name: "picture.png", kind: "image" }));
    await remove(id, "picture.png");
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1])] }));
    await bench.runs.updateRun(id, { name: "renamed" }, NOW_US);
    await agree([id]);
    expect(feed.batches.length).toBeGreaterThan(known);
    expect(feed.batches.slice(known).filter(({ models }) => models !== undefined)).toEqual([]);
  });

  it("M11 a follower that is killed after any part, or starts later, ends with the stored state", async () => {
    const ids: string[] = [];
    let restored = 0;
    const followers = [bench.under.feed, new FeedRecorder(bench.under.changes)];
    for (let round = 0; round < 24; round++) {
      if (round % 4 === 0) ids.push(await createRun(bench.runs));
      const run = ids[(round * 7) % ids.length]!;
      await put(run, model(`m${round % 3}.pt`, { step: round % 2, sizeBytes: round }), NOW_US + round);
      await put(
        run,
        reference({ name: "late.pt", kind: round % 2 === 0 ? "model" : "file" }),
        NOW_US + round,
      );
      if (round % 5 === 3) await remove(run, `m${round % 3}.pt`);
      const [newest] = await versions(run);
      if (round % 3 === 2 && newest !== undefined) {
        await store().restoreReplaced(
          { runId: run, name: newest.name, version: newest.version },
          NOW_US,
          AUDIT,
        );
        restored++;
      }
      if (round % 11 === 10) {
        await purge(run);
        ids.splice(ids.indexOf(run), 1);
      }
      // The second one sometimes reads a part, and is killed: only its mark is kept.
      if (round % 3 === 0) await followers[1]!.takeOne();
      if (round % 4 === 0) followers[1] = followers[1]!.resume(bench.under.changes);
      if (round === 13) {
        await bench.reopen();
        followers[0] = bench.under.feed;
        followers[1] = followers[1]!.resume(bench.under.changes);
      }
    }
    expect(restored).toBeGreaterThan(2);
    await agree(ids, [...followers, new FeedRecorder(bench.under.changes)]);
    // A part may be applied twice, and parts before it again.
    const [follower] = followers;
    for (const batch of follower!.batches.slice(1)) {
      if (!batch.reset) follower!.take(await bench.under.changes.runsSince(batch.mark));
    }
    await agree(ids, [follower!]);
  });

  it("M12 a scan brings all models in bounded parts, with changes during it, also to a follower killed in it", async () => {
    const COUNT = 10_030;
    const ids = [await createRun(bench.runs), await createRun(bench.runs)];
    for (let from = 0; from < COUNT; from += 1_000) {
      const steps = Array.from({ length: Math.min(1_000, COUNT - from) }, (_, at) => from + at);
      const artifacts = steps.map((step) => model("m.pt", { step }));
      await appendOne(bench.journal, envelope(ids[0]!, 0, { artifacts }));
      // In between are artifacts of other kinds.
      await put(ids[1]!, reference({ name: `other ${from}` }));
    }
    let follower = new FeedRecorder(bench.under.changes);
    let parts = 0;
    for (; parts === 0 || follower.batches.at(-1)!.mark.scanned !== undefined; parts++) {
      await follower.takeOne();
      // Killed, with its state.
      follower = follower.resume(bench.under.changes);
      await remove(ids[0]!, "m.pt", parts);
      await remove(ids[0]!, "m.pt", COUNT - 1 - parts);
      await put(ids[0]!, model("m.pt", { step: 500 + parts, sizeBytes: 1 }));
      await put(ids[1]!, model("new.pt", { step: parts }));
      const made = await createRun(bench.runs);
      await put(made, model("new.pt"));
      ids.push(made);
    }
    const sizes = follower.batches.map(({ models }) => models?.rows.length ?? 0);
    expect(Math.max(...sizes)).toBeLessThan(COUNT);
    expect(follower.batches.filter(({ reset }) => reset)).toHaveLength(1);
    await agree(ids, [follower, new FeedRecorder(bench.under.changes)]);
  });

  it("M12 changes of very many models come in parts", async () => {
    const ids = [await createRun(bench.runs)];
    const behind = new FeedRecorder(bench.under.changes);
    await behind.catchUp();
    const known = behind.batches.length;
    for (let round = 0; round < 25; round++) {
      const artifacts = Array.from({ length: 1_000 }, (_, at) => model("m.pt", { step: 1_000 * round + at }));
      await appendOne(bench.journal, envelope(ids[0]!, 0, { artifacts }));
    }
    await agree(ids, [behind]);
    const sizes = behind.batches.slice(known).map(({ models }) => models!.rows.length);
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(25_000);
  });
}
