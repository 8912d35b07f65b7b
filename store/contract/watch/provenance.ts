import { expect, it } from "vitest";
import { NO_PROVENANCE } from "#core/types/provenance.ts";
import type { Caller } from "#core/access/caller.ts";
import { asked, buildCore, CALLER } from "../core-under-test.ts";
import { useStores, type OpenStores } from "../stores.ts";
import { ALL_RUNS, READER, WatchReader, write } from "./reader.ts";

/** Watches by what queries know of the provenance. */
export function watchProvenanceContract(open: OpenStores): void {
  const bench = useStores(open);
  const core = () => buildCore(bench.under, { waveMs: 1 });
  const as = (caller: Caller, name: string): Caller => ({ ...caller, principal: { kind: "user", name } });

  it("Q200, Q201: a watch sees what an envelope adds to the provenance", async () => {
    const built = await core();
    const { run } = await built.runs.create(CALLER, asked());
    const view = { ...ALL_RUNS, query: 'training_data = "s3://c4@v3"', columns: ["study", "training_data"] };
    const reader = await WatchReader.open(built, { runs: view });
    const addProvenance = { ...NO_PROVENANCE, trainingData: ["s3://c4@v3"], study: "lr" };
    await write(built, run.id, { change: { captured: { ...NO_PROVENANCE, user: "ada" }, addProvenance } });
    const { runs } = await reader.next("runs");
    expect(runs.map((found) => found.run.provenance)).toEqual([addProvenance]);
    await built.runs.update(CALLER, { by: "id", id: run.id }, { clearProvenance: ["training_data"] });
    expect(await reader.next("runs")).toMatchObject({ runs: [], left: [run.id] });
    await reader.leave();
  });

  it("Q202 each of two watchers with the same rights and query sees its own runs", async () => {
    const built = await core();
    const view = { ...ALL_RUNS, query: "creator = me" };
    const [ada, bob] = await Promise.all(
      ["ada", "bob"].map((name) => WatchReader.open(built, { runs: view }, as(READER, name))),
    );
    const made = await built.runs.create(as(CALLER, "bob"), asked());
    const own = await built.runs.create(as(CALLER, "ada"), asked());
    const namesOf = async (reader: WatchReader) => (await reader.next("runs")).runs.map(({ run }) => run.id);
    expect(await namesOf(ada!)).toEqual([own.run.id]);
    expect(await namesOf(bob!)).toEqual([made.run.id]);
    await Promise.all([ada!.leave(), bob!.leave()]);
  });

  it("Q202 a search finds the runs of its caller", async () => {
    const built = await core();
    const made = await built.runs.create(as(CALLER, "bob"), asked());
    await built.runs.create(as(CALLER, "ada"), asked());
    const search = (name: string) =>
      built.runs.search(as(READER, name), {
        query: "creator = me",
        namespace: "",
        trashed: false,
        pageSize: 0,
        pageToken: "",
        columns: ["creator"],
      });
    const found = await search("bob");
    expect(found.runs.map(({ run }) => [run.id, run.creator])).toEqual([[made.run.id, "bob"]]);
    expect((await search("eve")).totalCount).toBe(0);
  });
}
