import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import type { SearchableProvenance } from "#lang/query/provenance-fields.ts";
import type { GetRuns } from "#core/ports/run-store.ts";
import { NO_CODE, NO_PROVENANCE, type Provenance } from "#core/types/provenance.ts";
import type { RunChange } from "#core/types/run.ts";
import {
  appendOne,
  createRun,
  envelope,
  getRun,
  inEveryForm,
  NOW_US,
  refused,
  useStores,
  type OpenStores,
} from "../stores.ts";

const made = (parts: Partial<Provenance>): Provenance => ({ ...NO_PROVENANCE, ...parts });

/** How provenance that arrives later is merged; mergeProvenance says what the merge is. */
export function provenanceContract(open: OpenStores): void {
  const bench = useStores(open);
  const stored = async (id: string) => (await getRun(bench.runs, id)).provenance;
  const append = (id: string, seq: number, change: RunChange) =>
    appendOne(bench.journal, envelope(id, seq, { change }));

  it("U202, U203: an envelope fills in what was captured, and merges what is stated", async () => {
    const id = await createRun(bench.runs, { provenance: made({ study: "s" }) });
    const code = { ...NO_CODE, commit: "c", trackedChanges: 1, untrackedFiles: 0, changedSubmodules: 0 };
    await append(id, 1, {
      captured: made({ study: "captured", user: "ada", code, environment: new Map([["host", "n1"]]) }),
      addProvenance: made({ trainingData: ["a"], logsLocation: "s3://logs" }),
    });
    await append(id, 2, {
      captured: made({ code: { ...code, commit: "d" } }),
      addProvenance: made({ study: "t", trainingData: ["a", "b"] }),
    });
    const environment = new Map([
      ["host", "n1"],
      ["note:code", "a later process ran other code: commit d, clean"],
    ]);
    const merged = {
      study: "t",
      user: "ada",
      trainingData: ["a", "b"],
      logsLocation: "s3://logs",
      code,
      environment,
    };
    await inEveryForm(bench, async () => expect(await stored(id)).toEqual(made(merged)));
  });

  it("U202 keeps what an envelope captured for a run without provenance", async () => {
    const id = await createRun(bench.runs);
    const captured = made({ command: ["train.py"] });
    await append(id, 1, { captured });
    await append(id, 1, { captured });
    expect(await stored(id)).toEqual(captured);
  });

  it("Q201 reads what queries know without the rest", async () => {
    const known = made({
      study: "s",
      trainingData: ["a"],
      code: { ...NO_CODE, commit: "c" },
      environment: new Map([["host", "n1"]]),
    });
    const whole = {
      ...known,
      command: ["x"],
      code: { ...known.code!, dirtyPatch: "+1", untrackedFiles: 3 },
      environment: new Map([...known.environment, ["gpu", "H200"]]),
    };
    const id = await createRun(bench.runs, { provenance: whole });
    const bare = await createRun(bench.runs);
    const read = async (options: Partial<GetRuns>) =>
      (await bench.runs.getRuns([id, bare], { bytesMax: Infinity, ...options })).runs.map(
        ({ provenance }) => provenance,
      );
    expect(await read({ omit: ["provenance", "params"], searchable: true })).toEqual([known, undefined]);
    expect(await read({ omit: ["provenance"] })).toEqual([undefined, undefined]);
    expect(await read({ searchable: true })).toEqual([whole, undefined]);
  });

  it("U203 an update replaces, clears, and then adds", async () => {
    const id = await createRun(bench.runs, {
      provenance: made({ study: "s", trainingData: ["a"], user: "u" }),
    });
    const change: RunChange = {
      clearProvenance: ["training_data"],
      addProvenance: made({ trainingData: ["b"] }),
    };
    await bench.runs.updateRun(id, change, NOW_US);
    expect(await stored(id)).toEqual(made({ study: "s", trainingData: ["b"], user: "u" }));
    await bench.runs.updateRun(id, { provenance: made({ study: "t" }), clearProvenance: ["study"] }, NOW_US);
    expect(await stored(id)).toEqual(NO_PROVENANCE);
  });

  it("U206 refuses to merge more than a run may have, and changes nothing then", async () => {
    const id = await createRun(bench.runs, { provenance: made({ trainingData: ["0"] }) });
    const trainingData = Array.from({ length: limits.provenanceListMax }, (_, i) => String(i + 1));
    const change: RunChange = { name: "never", addProvenance: made({ trainingData }) };
    await expect(append(id, 1, change)).rejects.toEqual(refused("exhausted", "LIMIT_EXCEEDED"));
    await expect(bench.runs.updateRun(id, change, NOW_US)).rejects.toEqual(
      refused("exhausted", "LIMIT_EXCEEDED"),
    );
    const large = (key: string) =>
      made({ environment: new Map([[key, "x".repeat(limits.provenanceBytesMax - 9)]]) });
    await append(id, 1, { captured: large("a") });
    await expect(
      append(id, 2, { captured: made({ ...large("b"), command: ["x".repeat(99)] }) }),
    ).rejects.toEqual(refused("exhausted", "LIMIT_EXCEEDED"));
    expect((await getRun(bench.runs, id)).name).toBe("a run");
    expect(await stored(id)).toEqual(made({ ...large("a"), trainingData: ["0"] }));
  });

  it("D4, Q200: sends what queries know of the provenance, and who created the run", async () => {
    const code = { ...NO_CODE, repository: "r", commit: "c", branch: "b", dirtyPatch: "+1" };
    const provenance: Provenance = {
      initialState: "s3://base",
      trainingData: ["a", "", "b"],
      testData: ["t"],
      featurePipeline: "p",
      study: "s",
      logsLocation: "s3://logs",
      user: "u",
      code,
      command: ["x"],
      environment: new Map([["host", "n1"]]),
    };
    const searchable: SearchableProvenance = {
      user: "u",
      host: "n1",
      study: "s",
      initial_state: "s3://base",
      training_data: ["a", "b"],
      test_data: ["t"],
      feature_pipeline: "p",
      logs_location: "s3://logs",
      repository: "r",
      commit: "c",
      branch: "b",
    };
    const id = await createRun(bench.runs, { provenance, creator: "ada" });
    await bench.under.feed.catchUp();
    expect(bench.under.feed.findRun(id)).toMatchObject({ creator: "ada", searchable });
    const change = {
      captured: { ...provenance, study: "x" },
      addProvenance: { ...NO_PROVENANCE, testData: ["u"] },
    };
    await appendOne(bench.journal, envelope(id, 1, { change }));
    await bench.under.feed.catchUp();
    expect(bench.under.feed.findRun(id)).toMatchObject({
      searchable: { ...searchable, test_data: ["t", "u"] },
    });
    await bench.runs.updateRun(id, { clearProvenance: ["environment", "code"] }, NOW_US);
    await bench.under.feed.catchUp();
    expect(bench.under.feed.findRun(id)!.searchable).toMatchObject({ host: "", commit: "", study: "s" });
  });
}
