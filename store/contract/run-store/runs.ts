import { expect, it } from "vitest";
import { NO_CODE, NO_PROVENANCE, type Provenance } from "#core/types/provenance.ts";
import type { RunChange } from "#core/types/run.ts";
import { ENDED, RUN_STATUSES } from "#lang/statuses.ts";
import {
  AUDIT,
  createRun,
  getRun,
  getRuns,
  inEveryForm,
  newRun,
  NOW_US,
  refused,
  useStores,
  type OpenStores,
} from "../stores.ts";

const PROVENANCE: Provenance = {
  ...NO_PROVENANCE,
  initialState: "s3://bucket/base.ckpt",
  trainingData: ["a", "b"],
  featurePipeline: "mel-80",
  logsLocation: "s3://bucket/logs",
  user: "ada",
  code: {
    ...NO_CODE,
    repository: "git@x:y",
    commit: "c0ffee",
    branch: "main",
    dirtyPatch: "+1\n-1",
    trackedChanges: 2,
    untrackedFiles: 0,
    changedSubmodules: 3,
    patchLeftOut: "submodules are not in it",
    leftOutBytes: 2 ** 40,
  },
  command: ["python", "train.py", "--lr", "1e-3"],
  environment: new Map([
    ["PATH", "/bin"],
    ["__proto__", "x"],
  ]),
};

export function runsContract(open: OpenStores): void {
  const bench = useStores(open);
  const idsOf = async (ref: Parameters<typeof bench.runs.findRuns>[0]) =>
    (await bench.runs.findRuns(ref)).map(({ id }) => id);

  it("keeps everything a run was created with", async () => {
    const run = newRun({
      namespace: "lab/asr",
      name: "baseline “ü” 🚀",
      aliases: ["k8s://ns/job-1", "torchx \u0000 odd", "__proto__"],
      status: "failed",
      notes: "# Notes\n\nline\u0007 two",
      params: new Map([
        ["lr", "0.001"],
        ["__proto__", '{"a":[1,2.50,null]}'],
      ]),
      tags: new Map([
        ["team", "asr"],
        ["constructor", ""],
      ]),
      provenance: PROVENANCE,
      startedUs: undefined,
      endedUs: NOW_US + 1,
      updatedUs: NOW_US + 2,
    });
    const created = await bench.runs.createRun(run, { getOrCreate: false });
    expect(created).toEqual({ run, created: true });
    await inEveryForm(bench, async () => {
      expect(await getRuns(bench.runs, [run.id])).toEqual([run]);
    });
  });

  it("V8 keeps params as written", async () => {
    const params = new Map([
      ["one", "1"],
      ["float", "1.0"],
      ["big", "9007199254740993"],
      ["small", "-0.0"],
      ["exp", "1E-3"],
      ["nan", "NaN"],
      ["inf", "[Infinity,-Infinity]"],
      ["nested", '{"é":{"__proto__":[true,false,null,"\\u0000 \\"x\\""]}}'],
    ]);
    const id = await createRun(bench.runs, { params });
    await bench.runs.updateRun(id, { params: new Map([["later", "2.50"]]) }, NOW_US);
    await inEveryForm(bench, async () => {
      const stored = await getRun(bench.runs, id);
      expect(Object.fromEntries(stored.params)).toEqual(Object.fromEntries([...params, ["later", "2.50"]]));
    });
  });

  it("refuses a second run with the same id", async () => {
    const run = newRun();
    await bench.runs.createRun(run, { getOrCreate: false });
    const again = newRun({ id: run.id, name: "other" });
    await expect(bench.runs.createRun(again, { getOrCreate: false })).rejects.toMatchObject({
      name: "CairnError",
    });
    expect(await getRun(bench.runs, run.id)).toEqual(run);
  });

  it("U4 refuses one of many concurrent calls without affecting the others", async () => {
    const id = await createRun(bench.runs, { aliases: ["taken"] });
    const calls = Array.from({ length: 30 }, (_, i) => {
      if (i % 3 === 0) return bench.runs.createRun(newRun({ id }), { getOrCreate: false });
      if (i % 3 === 1) return bench.runs.createRun(newRun({ aliases: ["taken"] }), { getOrCreate: false });
      return bench.runs.createRun(newRun({ name: `run ${i}` }), { getOrCreate: false });
    });
    const outcomes = await Promise.allSettled(calls);
    expect(
      outcomes.map(({ status }, i) => [i % 3, status]).filter(([, status]) => status === "fulfilled"),
    ).toEqual(Array.from({ length: 10 }, () => [2, "fulfilled"]));
    expect(await bench.engine.info()).toMatchObject({ runs: 11 });
  });

  it("gets runs in the order of their ids and leaves unknown ones out", async () => {
    const a = await createRun(bench.runs);
    const b = await createRun(bench.runs);
    const found = await getRuns(bench.runs, [b, "0".repeat(32), a, b]);
    expect(found.map(({ id }) => id)).toEqual([b, a, b]);
  });

  it("gets runs without omitted parts", async () => {
    const run = newRun({ params: new Map([["a", "1"]]), notes: "long", provenance: PROVENANCE });
    await bench.runs.createRun(run, { getOrCreate: false });
    const empty = { params: new Map(), notes: "", provenance: undefined };
    expect(await getRuns(bench.runs, [run.id], ["params", "notes", "provenance"])).toEqual([
      { ...run, ...empty },
    ]);
    expect(await getRuns(bench.runs, [run.id], ["notes"])).toEqual([{ ...run, notes: "" }]);
    expect(await getRuns(bench.runs, [run.id], [])).toEqual([run]);
  });

  it("U1 finds a run by id, by path, and by alias within a subtree", async () => {
    const id = await createRun(bench.runs, { namespace: "lab/asr", aliases: ["job-7"] });
    expect(await idsOf({ by: "id", id })).toEqual([id]);
    expect(await idsOf({ by: "path", namespace: "lab/asr", id })).toEqual([id]);
    expect(await idsOf({ by: "path", namespace: "lab", id })).toEqual([]);
    for (const namespace of ["", "lab", "lab/asr"]) {
      expect(await idsOf({ by: "alias", alias: "job-7", namespace })).toEqual([id]);
    }
    for (const namespace of ["la", "lab/as", "lab/asr/en"]) {
      expect(await idsOf({ by: "alias", alias: "job-7", namespace })).toEqual([]);
    }
    expect(await idsOf({ by: "alias", alias: "job-", namespace: "" })).toEqual([]);
    expect(await idsOf({ by: "id", id: "0".repeat(32) })).toEqual([]);
  });

  it("U1 returns every candidate for an alias, also from the trash, up to ten", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) {
      ids.push(await createRun(bench.runs, { namespace: `lab/n${i}`, aliases: ["same"] }));
    }
    await bench.runs.setDeleted(ids[0]!, NOW_US, AUDIT);
    expect(await idsOf({ by: "alias", alias: "same", namespace: "lab/n0" })).toEqual([ids[0]]);
    expect(await idsOf({ by: "alias", alias: "same", namespace: "lab/n1" })).toEqual([ids[1]]);
    const found = await idsOf({ by: "alias", alias: "same", namespace: "lab" });
    expect(found).toHaveLength(10);
    expect(new Set(found).isSubsetOf(new Set(ids))).toBe(true);
  });

  it("U2 shares one run among 100 callers that get or create it at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        bench.runs.createRun(newRun({ name: `rank ${i}`, aliases: ["job", `rank-${i % 3}`] }), {
          getOrCreate: true,
        }),
      ),
    );
    expect(new Set(answers.map(({ run }) => run.id)).size).toBe(1);
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    const [first] = answers;
    expect(answers.every(({ run }) => run.name === first!.run.name)).toBe(true);
    expect((await bench.engine.info()).runs).toBe(1);
  });

  it("U2 returns the run that has the alias unchanged, also from the trash", async () => {
    const id = await createRun(bench.runs, { aliases: ["job"], tags: new Map([["a", "1"]]) });
    const before = await bench.runs.setDeleted(id, NOW_US + 1, AUDIT);
    const fresh = newRun({ aliases: ["job", "other"], tags: new Map([["b", "2"]]) });
    expect(await bench.runs.createRun(fresh, { getOrCreate: true })).toEqual({ run: before, created: false });
    expect(await getRun(bench.runs, id)).toEqual(before);
    expect(await idsOf({ by: "alias", alias: "other", namespace: "lab" })).toEqual([]);
  });

  it("U3 refuses an alias that is taken in the namespace, also by a run in the trash", async () => {
    const id = await createRun(bench.runs, { aliases: ["job"] });
    const taken = refused("exists", "ALIAS_TAKEN");
    await expect(createRun(bench.runs, { aliases: ["new", "job"] })).rejects.toEqual(taken);
    await bench.runs.setDeleted(id, NOW_US, AUDIT);
    await expect(createRun(bench.runs, { aliases: ["job"] })).rejects.toEqual(taken);
    expect(await idsOf({ by: "alias", alias: "new", namespace: "" })).toEqual([]);
    await createRun(bench.runs, { namespace: "elsewhere", aliases: ["job"] });
    await bench.runs.purgeRun(id, AUDIT);
    await createRun(bench.runs, { aliases: ["job"] });
  });

  it("U3 refuses aliases that belong to different runs, with and without get-or-create", async () => {
    const a = await createRun(bench.runs, { aliases: ["a"] });
    const b = await createRun(bench.runs, { aliases: ["b"] });
    const fresh = newRun({ aliases: ["a", "b"] });
    for (const getOrCreate of [true, false]) {
      const refusal = bench.runs.createRun(fresh, { getOrCreate });
      await expect(refusal).rejects.toEqual(refused("precondition", "ALIAS_CONFLICT"));
      await expect(refusal).rejects.toMatchObject({ facts: { candidates: expect.stringContaining(a) } });
      await expect(refusal).rejects.toMatchObject({ facts: { candidates: expect.stringContaining(b) } });
    }
  });

  it("U3 adds aliases to a run and refuses those of another, with nothing changed", async () => {
    await createRun(bench.runs, { aliases: ["taken"] });
    const id = await createRun(bench.runs, { aliases: ["mine"] });
    const updated = await bench.runs.updateRun(id, { addAliases: ["mine", "more"] }, NOW_US);
    expect(updated.aliases).toEqual(["mine", "more"]);
    expect(await idsOf({ by: "alias", alias: "more", namespace: "lab" })).toEqual([id]);
    const change: RunChange = { addAliases: ["fresh", "taken"], name: "never" };
    await expect(bench.runs.updateRun(id, change, NOW_US)).rejects.toEqual(refused("exists", "ALIAS_TAKEN"));
    expect(await getRun(bench.runs, id)).toEqual(updated);
    expect(await idsOf({ by: "alias", alias: "fresh", namespace: "lab" })).toEqual([]);
  });

  it("U4 merges params and tags per key; the last write wins", async () => {
    const id = await createRun(bench.runs, {
      params: new Map([["a", "1"]]),
      tags: new Map([["t", "x"]]),
    });
    const change: RunChange = {
      params: new Map([
        ["a", "2"],
        ["__proto__", "{}"],
      ]),
      tags: new Map([["u", "y"]]),
      name: "renamed",
      notes: "noted",
      provenance: PROVENANCE,
    };
    const updated = await bench.runs.updateRun(id, change, NOW_US + 9);
    expect(updated).toMatchObject({
      name: "renamed",
      notes: "noted",
      provenance: PROVENANCE,
      updatedUs: NOW_US + 9,
    });
    expect(new Map(updated.params)).toEqual(
      new Map([
        ["a", "2"],
        ["__proto__", "{}"],
      ]),
    );
    expect(new Map(updated.tags)).toEqual(
      new Map([
        ["t", "x"],
        ["u", "y"],
      ]),
    );
    await inEveryForm(bench, async () => expect(await getRun(bench.runs, id)).toEqual(updated));
    const empty = await bench.runs.updateRun(id, {}, NOW_US);
    expect(empty).toEqual(updated);
  });

  it("U4 removes keys, and with only-if-absent keeps existing ones", async () => {
    const id = await createRun(bench.runs, {
      params: new Map([
        ["a", "1"],
        ["b", "1"],
      ]),
      tags: new Map([
        ["a", "1"],
        ["b", "1"],
      ]),
    });
    const both = new Map([
      ["a", "2"],
      ["c", "2"],
    ]);
    const kept = await bench.runs.updateRun(id, { params: both, tags: both, onlyIfAbsent: true }, NOW_US);
    expect(Object.fromEntries(kept.params)).toEqual({ a: "1", b: "1", c: "2" });
    expect(Object.fromEntries(kept.tags)).toEqual({ a: "1", b: "1", c: "2" });
    const removed = await bench.runs.updateRun(
      id,
      { removeParams: ["a", "unknown"], removeTags: ["b"] },
      NOW_US,
    );
    expect(Object.fromEntries(removed.params)).toEqual({ b: "1", c: "2" });
    expect(Object.fromEntries(removed.tags)).toEqual({ a: "1", c: "2" });
  });

  it("U11 refuses a param with another text in an update, and accepts the same one", async () => {
    const id = await createRun(bench.runs, { params: new Map([["lr", "1"]]) });
    const once = (params: [string, string][], more: RunChange = {}) =>
      bench.runs.updateRun(id, { params: new Map(params), paramsOnce: true, ...more }, NOW_US + 1, AUDIT);
    const same: [string, string] = ["lr", "1"];
    expect(Object.fromEntries((await once([same, ["new", "2"]])).params)).toEqual({ lr: "1", new: "2" });
    const before = await getRun(bench.runs, id);
    const entries = await bench.engine.info();
    for (const more of [{}, { onlyIfAbsent: true }, { removeParams: ["lr"] }]) {
      const taken = once(
        [
          ["other", "3"],
          ["lr", "1.0"],
        ],
        { notes: "changed", ...more },
      );
      await expect(taken).rejects.toEqual(refused("precondition", "PARAM_WRITTEN", { facts: { key: "lr" } }));
    }
    expect(await getRun(bench.runs, id)).toEqual(before);
    expect(await bench.engine.info()).toEqual(entries);
    await bench.runs.updateRun(id, { params: new Map([["lr", "5"]]) }, NOW_US + 1);
    await expect(once([same])).rejects.toEqual(refused("precondition", "PARAM_WRITTEN"));
  });

  it("U11 one of many concurrent callers may write a param", async () => {
    const id = await createRun(bench.runs);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        bench.runs.updateRun(id, { params: new Map([["lr", String(i)]]), paramsOnce: true }, NOW_US),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(outcomes[0]!.status).toBe("fulfilled");
    expect((await getRun(bench.runs, id)).params.get("lr")).toBe("0");
  });

  it("U4 loses no key when many callers update one run at once", async () => {
    const id = await createRun(bench.runs);
    await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        bench.runs.updateRun(id, { params: new Map([[`p${i}`, String(i)]]) }, NOW_US),
      ),
    );
    expect((await getRun(bench.runs, id)).params.size).toBe(50);
  });

  it("U5 sets the end with a status that ends a run and clears it with one that does not", async () => {
    const id = await createRun(bench.runs, { status: "scheduled", startedUs: undefined });
    const update = (change: RunChange, nowUs: number) => bench.runs.updateRun(id, change, nowUs);
    expect(await update({}, NOW_US + 1)).toMatchObject({ startedUs: undefined, endedUs: undefined });
    expect(await update({ status: "running" }, NOW_US + 2)).toMatchObject({ startedUs: NOW_US + 2 });
    for (const status of RUN_STATUSES) {
      await update({ status: "running" }, NOW_US + 3);
      const changed = await update({ status }, NOW_US + 4);
      expect(changed).toMatchObject({ status, endedUs: ENDED.has(status) ? NOW_US + 4 : undefined });
    }
    await update({ status: "finished", endedUs: NOW_US - 5 }, NOW_US + 5);
    expect(await update({ status: "failed" }, NOW_US + 6)).toMatchObject({ endedUs: NOW_US - 5 });
    expect(await update({ name: "x" }, NOW_US + 7)).toMatchObject({ endedUs: NOW_US - 5 });
    expect(await update({ endedUs: NOW_US + 8 }, NOW_US + 8)).toMatchObject({ endedUs: NOW_US + 8 });
    expect(await update({ status: "running" }, NOW_US + 9)).toMatchObject({ endedUs: undefined });
  });

  it("refuses to change a missing run", async () => {
    const unknown = "0".repeat(32);
    await expect(bench.runs.updateRun(unknown, {}, NOW_US)).rejects.toEqual(refused("not-found"));
    await expect(bench.runs.setDeleted(unknown, NOW_US, AUDIT)).rejects.toEqual(refused("not-found"));
    await expect(bench.runs.purgeRun(unknown, AUDIT)).rejects.toEqual(refused("not-found"));
    await expect(bench.runs.verifyRun(unknown)).rejects.toEqual(refused("not-found"));
    await expect(bench.namespaces.deleteNamespace(unknown, AUDIT)).rejects.toEqual(refused("not-found"));
  });

  it("applies calls in the order they were made", async () => {
    const id = await createRun(bench.runs);
    const updates = Array.from({ length: 30 }, (_, i) =>
      bench.runs.updateRun(id, { name: `name ${i}` }, NOW_US),
    );
    expect((await Promise.all(updates)).map(({ name }) => name)).toEqual(updates.map((_, i) => `name ${i}`));
    expect((await getRun(bench.runs, id)).name).toBe("name 29");
  });
}
