import { expect, it } from "vitest";
import { OWNER, type Caller } from "#core/access/caller.ts";
import type { SearchModels } from "#core/models/models.ts";
import type { ArtifactRecord } from "#core/types/artifact.ts";
import { limits } from "#lang/limits.ts";
import { as, here, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { inline, reference } from "../artifact-samples.ts";
import { asked, CALLER } from "../core-under-test.ts";
import { FeedRecorder } from "../feed-recorder.ts";
import { OvertakenSearch } from "../overtaken-search.ts";
import {
  appendOne,
  AUDIT,
  envelope,
  NOW_US,
  numbers,
  refused,
  useStores,
  type OpenStores,
} from "../stores.ts";

export function coreModelsContract(open: OpenStores): void {
  const bench = useStores(open);
  const put = (run: string, name: string, parts: Partial<ArtifactRecord> = {}, nowUs = NOW_US) =>
    bench.under.artifacts.putArtifact(run, reference({ name, kind: "model", ...parts }), nowUs);
  const create = async ({ runs }: AccessUnderTest, namespace: string, ...aliases: string[]) =>
    (await runs.create(CALLER, asked({ namespace, aliases, params: new Map([["lr", "0.5"]]) }))).run.id;
  const request = (parts: Partial<SearchModels> = {}): SearchModels => ({
    query: "",
    namespace: "",
    pageSize: 0,
    pageToken: "",
    ...parts,
  });
  /** Names of the models found, and the total. */
  const named = async ({ models }: AccessUnderTest, caller: Caller, query = "order by model.name") => {
    const found = await models.search(caller, request({ query }));
    return [found.models.map(({ artifact }) => artifact.name).join(" "), found.totalCount];
  };

  it("M15 answers with the record of the model and the head of its run", async () => {
    const under = await openAccess(bench.under);
    const id = await create(under, "lab/asr", "job");
    const given = reference({
      name: "best.pt",
      kind: "model",
      step: 7,
      uri: "s3://b/best.pt",
      sizeBytes: 12,
      metadata: new Map([["f1", "0.5"]]),
    });
    const artifact = await bench.under.artifacts.putArtifact(id, given, NOW_US, AUDIT);
    await bench.under.artifacts.putArtifact(id, reference({ name: "notes.txt" }), NOW_US);
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("acc", [0.5, 0.9])] }));
    const query = "model.step > 5 and metrics.acc.max > 0.8 and params.lr = 0.5";
    const found = await under.models.search(CALLER, request({ query }));
    expect(found).toMatchObject({ totalCount: 1, nextPageToken: "" });
    const [{ artifact: first, run }] = found.models as [(typeof found.models)[number]];
    expect(first).toEqual(artifact);
    expect(run).toMatchObject({ id, namespace: "lab/asr", status: "running", aliases: [] });
    expect([run.params.size, run.tags.size, run.provenance]).toEqual([0, 0, undefined]);
    expect(await named(under, CALLER, "metrics.acc.max > 0.95")).toEqual(["", 0]);
    const elsewhere = await under.models.search(CALLER, request({ namespace: "lab/mt" }));
    expect(elsewhere.totalCount).toBe(0);
    expect((await under.models.search(CALLER, request({ namespace: "lab" }))).totalCount).toBe(1);
  });

  it("M15 refuses an invalid query, page size or namespace", async () => {
    const { models } = await openAccess(bench.under);
    for (const parts of [
      { query: "model.setp > 1" },
      { pageSize: limits.pageSizeMax + 1 },
      { pageSize: -1 },
      { namespace: "a//b" },
    ]) {
      await expect(models.search(CALLER, request(parts))).rejects.toEqual(refused("invalid"));
    }
  });

  it("M14 a closed artifact is neither found nor counted, except by a principal with a role on it", async () => {
    const under = await openAccess(bench.under);
    const id = await create(under, "lab");
    for (const name of ["a.pt", "shut.pt", "z.pt"]) await put(id, name);
    await put(id, "shut.pt", { step: 3 });
    const [ben, eve, root] = [
      as(await under.user("ben"), "read"),
      as(await under.user("eve"), "read"),
      as(await under.user("root"), "read"),
    ];
    for (const name of ["ben", "eve"]) await under.bind(name, "viewer", on("lab"));
    await under.bind("root", "admin", on(""));
    expect(await named(under, ben)).toEqual(["a.pt shut.pt shut.pt z.pt", 4]);
    await under.close(on("lab", id, "shut.pt"));
    await under.bind("eve", "viewer", on("lab", id, "shut.pt"));
    expect(await named(under, ben)).toEqual(["a.pt z.pt", 2]);
    expect(await named(under, ben, 'model.name = "shut.pt" or model.step > 0')).toEqual(["", 0]);
    for (const caller of [eve, root, as(OWNER, "read")]) {
      expect(await named(under, caller)).toEqual(["a.pt shut.pt shut.pt z.pt", 4]);
    }
    const bounded = await under.token("eve", { namespaces: ["lab"] });
    expect(await named(under, as(here(under.access.identify(bounded.secret)), "read"))).toMatchObject({
      1: 4,
    });
    // Pages are filled with visible models.
    const first = await under.models.search(ben, request({ pageSize: 1, query: "order by model.name" }));
    const next = request({ pageSize: 1, query: "order by model.name", pageToken: first.nextPageToken });
    const second = await under.models.search(ben, next);
    expect([first, second].map(({ models }) => models[0]!.artifact.name)).toEqual(["a.pt", "z.pt"]);
    expect([first, second].map(({ nextPageToken }) => nextPageToken === "")).toEqual([false, true]);
  });

  it("M14 no caller finds a model of a run that it may not read or that is in the trash, not even one with a role for it", async () => {
    const under = await openAccess(bench.under);
    const [own, hidden, trashed] = [
      await create(under, "lab"),
      await create(under, "secret"),
      await create(under, "lab"),
    ];
    for (const [run, name] of [
      [own, "own.pt"],
      [hidden, "hidden.pt"],
      [trashed, "trashed.pt"],
    ] as const) {
      await put(run, name);
    }
    await under.runs.delete(CALLER, { by: "id", id: trashed });
    const ben = as(await under.user("ben"), "read");
    await under.bind("ben", "viewer", on("lab"));
    await under.bind("ben", "viewer", on("secret", hidden, "hidden.pt"));
    expect(await named(under, ben)).toEqual(["own.pt", 1]);
    expect(await named(under, ben, "params.lr = 0.5")).toEqual(["own.pt", 1]);
    await under.bind("ben", "viewer", on("secret", hidden));
    expect(await named(under, ben)).toEqual(["hidden.pt own.pt", 2]);
    await under.close(on("secret", hidden));
    expect(await named(under, CALLER)).toEqual(["hidden.pt own.pt", 2]);
    await under.runs.restore(CALLER, { by: "id", id: trashed });
    expect(await named(under, ben)).toEqual(["hidden.pt own.pt trashed.pt", 3]);
  });

  it("M15 leaves out what was deleted, replaced by another kind, purged or closed since it was found", async () => {
    const search = new OvertakenSearch(new FeedRecorder(bench.under.changes));
    const under = await openAccess(bench.under, { search });
    const [id, gone] = [await create(under, "lab"), await create(under, "lab")];
    for (const name of ["deleted.pt", "file.pt", "shut.pt", "stays.pt"]) await put(id, name);
    await put(gone, "purged.pt");
    search.next = async () => {
      await bench.under.artifacts.deleteArtifact(id, "deleted.pt", undefined, AUDIT);
      await bench.under.artifacts.putArtifact(id, inline("now a file", { name: "file.pt" }), NOW_US);
      await under.close(on("lab", id, "shut.pt"));
      await under.runs.delete(CALLER, { by: "id", id: gone });
      await under.runs.purge(CALLER, { by: "id", id: gone });
    };
    const ben = as(await under.user("ben"), "read");
    await under.bind("ben", "viewer", on("lab"));
    const found = await under.models.search(ben, request());
    expect(found.totalCount).toBe(5);
    expect(found.models.map(({ artifact }) => artifact.name)).toEqual(["stays.pt"]);
  });

  it("M15 a page ends early when its models are large, and the next continues after it", async () => {
    const under = await openAccess(bench.under);
    const id = await create(under, "lab");
    const metadata = new Map([["text", JSON.stringify("x".repeat(60_000))]]);
    const count = Math.ceil(limits.pageBytesMax / 60_000) + 20;
    for (let from = 0; from < count; from += 60) {
      const steps = Array.from({ length: Math.min(60, count - from) }, (_, at) => from + at);
      const artifacts = steps.map((step) => reference({ name: "m.pt", kind: "model", step, metadata }));
      await appendOne(bench.journal, envelope(id, 0, { artifacts }));
    }
    const steps: number[] = [];
    let pages = 0;
    let pageToken = "";
    do {
      const query = "order by model.step desc";
      const page = await under.models.search(CALLER, request({ query, pageSize: 10_000, pageToken }));
      expect(page.totalCount).toBe(count);
      steps.push(...page.models.map(({ artifact }) => artifact.step!));
      ({ nextPageToken: pageToken } = page);
      pages++;
    } while (pageToken !== "");
    expect(pages).toBe(2);
    expect(steps).toEqual(Array.from({ length: count }, (_, at) => count - 1 - at));
  });
}
