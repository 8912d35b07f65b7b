import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { useWays, TWO_WAYS } from "../testing/servers.ts";

const open = useWays();

describe.each(TWO_WAYS)("$name", (way) => {
  it("U1 a run is found by id, by path and by alias in a subtree", async () => {
    const { runs } = open(way);
    const root = `u1-${randomUUID()}`;
    const [first, second] = await Promise.all([
      runs.createRun({ namespace: `${root}/a`, aliases: ["job://x/1", "k8s-7"] }),
      runs.createRun({ namespace: `${root}/b`, aliases: ["job://x/1"] }),
    ]);
    const id = first.run!.id;
    for (const ref of [
      { id },
      { path: `${root}/a/${id}` },
      { alias: "job://x/1", namespace: `${root}/a` },
      { alias: "k8s-7", namespace: root },
      { path: id },
    ]) {
      expect((await runs.getRun({ run: ref })).id).toBe(id);
    }
    const ambiguous = await errorOf(runs.getRun({ run: { alias: "job://x/1", namespace: root } }));
    expect(ambiguous).toMatchObject({ code: "FailedPrecondition", details: [{ reason: "ALIAS_AMBIGUOUS" }] });
    const named = ambiguous.details[0]!.facts["candidates"]!.split(" ").sort();
    expect(named).toEqual([`${root}/a/${id}`, `${root}/b/${second.run!.id}`]);
    for (const run of [
      { id: "f".repeat(32) },
      { path: `${root}/b/${id}` },
      { alias: "job://x/1", namespace: `${root}/c` },
      { alias: "none" },
    ]) {
      expect(await errorOf(runs.getRun({ run }))).toMatchObject({ code: "NotFound" });
    }
  });

  it("U2 sixty-four ranks at once share one run", async () => {
    const { runs } = open(way);
    const alias = randomUUID();
    const ranks = Array.from({ length: 64 }, (_, rank) =>
      runs.createRun({ namespace: "u2", aliases: [alias], getOrCreate: true, tags: { rank: String(rank) } }),
    );
    const answers = await Promise.all(ranks);
    expect(new Set(answers.map(({ run }) => run!.id)).size).toBe(1);
    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    const winner = answers.find(({ created }) => created)!.run!;
    for (const { run } of answers) expect(run).toEqual(winner);
    expect((await runs.searchRuns({ query: `alias = "${alias}"` })).totalCount).toBe(1n);
  });

  it("U3, U7 an alias is unique in its namespace, which is made with its parents", async () => {
    const { runs, namespaces } = open(way);
    const root = `u3-${randomUUID()}`;
    const { run } = await runs.createRun({ namespace: `${root}/x/y`, aliases: ["a"] });
    await runs.deleteRun({ run: { id: run!.id } });
    expect(await errorOf(runs.createRun({ namespace: `${root}/x/y`, aliases: ["a"] }))).toMatchObject({
      code: "AlreadyExists",
    });
    const { namespaces: listed } = await namespaces.listNamespaces({ under: root });
    expect(listed.map(({ path }) => path)).toEqual([root, `${root}/x`, `${root}/x/y`]);
  });

  it("U4, U5 an update merges per key; with only-if-absent existing keys stay", async () => {
    const { runs } = open(way);
    const created = await runs.createRun({ params: { a: "1", b: "2" }, tags: { t: "1", __proto__x: "y" } });
    const ref = { id: created.run!.id };
    let run = await runs.updateRun({
      run: ref,
      params: { b: "3", c: '{"d": [1, 2.0]}' },
      tags: { u: "2" },
      removeTags: ["t"],
      notes: "",
    });
    expect(run).toMatchObject({ params: { a: "1", b: "3" }, tags: { u: "2", __proto__x: "y" } });
    expect(Object.keys(run.params)).toEqual(["a", "b", "c"]);
    run = await runs.updateRun({
      run: ref,
      params: { a: "9", z: "0" },
      tags: { u: "9" },
      onlyIfAbsent: true,
    });
    expect(run).toMatchObject({ params: { a: "1", z: "0" }, tags: { u: "2" } });
    run = await runs.updateRun({ run: ref, status: RunStatus.FAILED, endedUs: 123n });
    expect(run).toMatchObject({ status: RunStatus.FAILED, endedUs: 123n });
    run = await runs.updateRun({ run: ref, status: RunStatus.RUNNING });
    expect(run).toMatchObject({ status: RunStatus.RUNNING, endedUs: 0n });
    expect({ ...(await runs.getRun({ run: ref })), position: "" }).toEqual(run);
  });

  it("U6 deleting is undone by restoring; purging needs the trash and destroys everything", async () => {
    const { runs, metrics } = open(way);
    const namespace = `u6-${randomUUID()}`;
    const { run } = await runs.createRun({ namespace });
    const ref = { id: run!.id };
    await metrics.writeEnvelope({ run: ref, series: [{ key: "k", values: [1, 2, 3] }] });
    expect(await errorOf(runs.purgeRun({ run: ref }))).toMatchObject({ code: "FailedPrecondition" });
    const deleted = await runs.deleteRun({ run: ref });
    expect(deleted.deletedUs).toBeGreaterThan(0n);
    expect((await runs.deleteRun({ run: ref })).deletedUs).toBe(deleted.deletedUs);
    expect((await runs.searchRuns({ namespace })).totalCount).toBe(0n);
    expect((await runs.searchRuns({ namespace, trashed: true })).totalCount).toBe(1n);
    expect((await runs.restoreRun({ run: ref })).deletedUs).toBe(0n);
    expect((await runs.searchRuns({ namespace })).totalCount).toBe(1n);
    await runs.deleteRun({ run: ref });
    expect((await runs.purgeRun({ run: ref })).purgedPoints).toBe(3n);
    expect(await errorOf(runs.getRun({ run: ref }))).toMatchObject({ code: "NotFound" });
    expect(await errorOf(metrics.writeEnvelope({ run: ref, series: [] }))).toMatchObject({
      code: "NotFound",
    });
    expect((await runs.searchRuns({ namespace, trashed: true })).totalCount).toBe(0n);
  });

  it("U12, U13, U18, U19: a run moves to another namespace, and an alias that is taken there is named", async () => {
    const { runs, namespaces, metrics } = open(way);
    const root = `u12-${randomUUID()}`;
    const { run } = await runs.createRun({ namespace: `${root}/a`, aliases: ["job"], params: { lr: "1.0" } });
    const ref = { id: run!.id };
    const namespace = `${root}/b/new`;
    expect(await runs.moveRun({ run: ref, namespace })).toMatchObject({
      runId: ref.id,
      from: `${root}/a`,
      namespace,
    });
    expect({ ...(await runs.getRun({ run: ref })), position: "" }).toEqual({ ...run, namespace });
    expect(await runs.getRun({ run: { alias: "job", namespace: `${root}/b` } })).toMatchObject(ref);
    expect(await errorOf(runs.getRun({ run: { path: `${root}/a/${ref.id}` } }))).toMatchObject({
      code: "NotFound",
    });
    await metrics.writeEnvelope({
      run: { path: `${namespace}/${ref.id}` },
      series: [{ key: "k", values: [1] }],
    });
    expect((await runs.searchRuns({ namespace: `${root}/a` })).totalCount).toBe(0n);
    expect((await namespaces.getNamespace({ path: namespace })).runCount).toBe(1n);
    await runs.createRun({ namespace: `${root}/a`, aliases: ["job"] });
    expect(await errorOf(runs.moveRun({ run: ref, namespace: `${root}/a` }))).toMatchObject({
      code: "AlreadyExists",
      message: expect.stringContaining('alias "job" is taken there') as string,
    });
    for (const wrong of ["", "/a", "a//b"]) {
      expect(await errorOf(runs.moveRun({ run: ref, namespace: wrong }))).toMatchObject({
        code: "InvalidArgument",
      });
    }
    const missing = runs.moveRun({ run: { id: "0".repeat(32) }, namespace });
    expect(await errorOf(missing)).toMatchObject({ code: "NotFound" });
    expect(await runs.moveRun({ run: ref, namespace })).toMatchObject({ from: namespace, namespace });
  });

  it("N11, N12, N26, N29: a namespace moves with its runs, and keeps its id", async () => {
    const { runs, namespaces, metrics } = open(way);
    const root = `n11-${randomUUID()}`;
    const { run } = await runs.createRun({ namespace: `${root}/a/x`, aliases: ["job"] });
    const { id } = await namespaces.getNamespace({ path: `${root}/a` });
    const [from, to] = [`${root}/a`, `${root}/new/b`];
    expect(await namespaces.moveNamespace({ path: from, to })).toMatchObject({ id, from, path: to });
    expect(await namespaces.getNamespace({ id })).toMatchObject({ path: to, subtreeRunCount: 1n });
    const { position: _, ...moved } = await runs.getRun({ run: { id: run!.id } });
    expect({ ...moved, position: "" }).toEqual({ ...run, namespace: `${to}/x` });
    expect(await runs.getRun({ run: { alias: "job", namespace: to } })).toMatchObject({ id: run!.id });
    await metrics.writeEnvelope({
      run: { path: `${to}/x/${run!.id}` },
      series: [{ key: "k", values: [1] }],
    });
    expect((await runs.searchRuns({ namespace: from })).totalCount).toBe(0n);
    expect((await runs.searchRuns({ query: `namespace under "${to}"` })).totalCount).toBe(1n);
    expect(await errorOf(namespaces.moveNamespace({ path: from, to: `${root}/c` }))).toMatchObject({
      code: "NotFound",
    });
    expect(await errorOf(namespaces.moveNamespace({ path: to, to: root }))).toMatchObject({
      code: "AlreadyExists",
      message: expect.stringContaining("that exists already") as string,
    });
    for (const wrong of ["", "/a", "a//b", `${to}/below`]) {
      expect(await errorOf(namespaces.moveNamespace({ path: to, to: wrong }))).toMatchObject({
        code: "InvalidArgument",
      });
    }
    expect(await namespaces.moveNamespace({ path: to, to })).toMatchObject({ id, from: to, path: to });
  });

  it("N1 namespaces list parents before children with counts of their subtree, in pages", async () => {
    const { namespaces, runs } = open(way);
    const root = `n1-${randomUUID()}`;
    const objective = { metric: "loss", direction: Direction.MINIMIZE };
    await namespaces.createNamespace({ path: `${root}/b`, description: "two", objective });
    for (const path of [`${root}/a`, `${root}/a/deep`, `${root}/b`, root])
      await runs.createRun({ namespace: path });
    const ended = await runs.createRun({ namespace: `${root}/a`, status: RunStatus.FINISHED });
    const all = [];
    let pageToken = "";
    do {
      const page = await namespaces.listNamespaces({ under: root, pageSize: 2, pageToken });
      expect(page.namespaces.length).toBeLessThanOrEqual(2);
      all.push(...page.namespaces);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(
      all.map(({ path, ...one }) => [path, one.runCount, one.subtreeRunCount, one.subtreeRunningCount]),
    ).toEqual([
      [root, 1n, 5n, 4n],
      [`${root}/a`, 2n, 3n, 2n],
      [`${root}/a/deep`, 1n, 1n, 1n],
      [`${root}/b`, 1n, 1n, 1n],
    ]);
    expect(all[0]!.lastActivityUs).toBe(ended.run!.updatedUs);
    expect(all[3]).toMatchObject({ description: "two", objective });
  });

  it("N2, N16, N17, N18, N20, N22: a namespace goes to the trash with its runs, comes back as it was, and is destroyed", async () => {
    const { namespaces, runs, metrics } = open(way);
    const root = `n2-${randomUUID()}`;
    const path = `${root}/child`;
    const [run, own] = [await runs.createRun({ namespace: path }), await runs.createRun({ namespace: path })];
    const ref = { id: run.run!.id };
    await metrics.writeEnvelope({ run: ref, series: [{ key: "k", values: [1, 2] }] });
    await runs.deleteRun({ run: { id: own.run!.id } });
    const totals = async () => [
      (await runs.searchRuns({ namespace: root })).totalCount,
      (await runs.searchRuns({ namespace: root, trashed: true })).totalCount,
      (await namespaces.listNamespaces({ under: root })).namespaces.length,
      (await namespaces.listNamespaces({ under: root, trashed: true })).namespaces.length,
    ];
    expect(await totals()).toEqual([1n, 1n, 2, 0]);
    expect(await errorOf(namespaces.purgeNamespace({ path: root }))).toMatchObject({
      code: "FailedPrecondition",
    });
    await namespaces.deleteNamespace({ path: root });
    expect(await totals()).toEqual([0n, 2n, 0, 2]);
    const { deletedUs } = await namespaces.getNamespace({ path });
    expect(deletedUs).toBeGreaterThan(0n);
    expect((await runs.getRun({ run: ref })).deletedUs).toBe(deletedUs);
    const inTrash = {
      code: "FailedPrecondition",
      message: expect.stringContaining("in the trash") as string,
    };
    const refused = await Promise.all([
      errorOf(metrics.writeEnvelope({ run: ref, series: [{ key: "k", values: [1] }] })),
      errorOf(runs.createRun({ namespace: path })),
      errorOf(runs.restoreRun({ run: ref })),
      errorOf(namespaces.createNamespace({ path: `${path}/new` })),
      errorOf(namespaces.restoreNamespace({ path })),
      errorOf(namespaces.moveNamespace({ path: root, to: `${root}-moved` })),
    ]);
    for (const error of refused) expect(error).toMatchObject(inTrash);
    expect(await errorOf(namespaces.createNamespace({ path: root }))).toMatchObject({
      code: "AlreadyExists",
      message: expect.stringContaining("it is in the trash") as string,
    });
    await namespaces.restoreNamespace({ path: root });
    expect(await totals()).toEqual([1n, 1n, 2, 0]);
    await namespaces.deleteNamespace({ path: root });
    expect(await namespaces.purgeNamespace({ path: root })).toMatchObject({
      purgedRuns: 2n,
      purgedNamespaces: 2n,
      purgedPoints: 2n,
      done: true,
    });
    const missing = await Promise.all([
      errorOf(namespaces.getNamespace({ path: root })),
      errorOf(namespaces.purgeNamespace({ path: root })),
      errorOf(runs.getRun({ run: ref })),
    ]);
    for (const error of missing) expect(error).toMatchObject({ code: "NotFound" });
  });

  it("N3, N4, W6 paths are checked; the nearest description of a key wins", async () => {
    const { namespaces, metrics } = open(way);
    for (const path of ["", "/a", "a/", "a//b", "a/../b", "a\u0000", "f".repeat(32)]) {
      expect(await errorOf(namespaces.createNamespace({ path }))).toMatchObject({ code: "InvalidArgument" });
    }
    const root = `n4-${randomUUID()}`;
    await metrics.describeKey({ description: { namespace: root, key: "loss", unit: "nat" } });
    await metrics.describeKey({ description: { namespace: `${root}/a`, key: "loss", unit: "bit" } });
    const unitsIn = async (namespace: string) =>
      (await metrics.listKeys({ namespace })).keys.map(({ key, unit }) => `${key} ${unit}`);
    expect(await unitsIn(root)).toEqual(["loss nat"]);
    expect(await unitsIn(`${root}/a`)).toEqual(["loss bit"]);
    expect(await errorOf(metrics.describeKey({}))).toMatchObject({ code: "InvalidArgument" });
  });

  it("Q2 an error in a query points at its column", async () => {
    const { runs } = open(way);
    const error = await errorOf(runs.searchRuns({ query: 'params.lr > 1 and and tags.x = "y"' }));
    expect(error).toMatchObject({ code: "InvalidArgument", details: [{ facts: { column: "19" } }] });
  });

  it("Q3, Q4 pages hold every run once, and the total counts all matches", async () => {
    const { runs } = open(way);
    const namespace = `q3-${randomUUID()}`;
    const ids: string[] = [];
    for (let i = 0; i < 7; i++)
      ids.push((await runs.createRun({ namespace, params: { i: String(i) } })).run!.id);
    const seen: string[] = [];
    let pageToken = "";
    do {
      const page = await runs.searchRuns({
        query: "order by params.i desc",
        namespace,
        pageSize: 3,
        pageToken,
      });
      seen.push(...page.runs.map(({ id }) => id));
      expect(page.totalCount).toBe(7n);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(seen).toEqual(ids.toReversed());
  });

  it("W1 provenance, notes and times come back as they were sent", async () => {
    const { runs } = open(way);
    const provenance = {
      initialState: "s3://b/i",
      trainingData: ["s3://b/t1", "s3://b/t2"],
      testData: ["x"],
      featurePipeline: "f",
      study: "s",
      code: { repository: "r", commit: "c", branch: "b", dirtyPatch: "+a\n-b", archive: "z" },
      command: ["python", "train.py", "--x=1"],
      environment: { HOST: "h", CUDA: "12" },
    };
    const { run } = await runs.createRun({ name: "n", notes: "# ☃", provenance, startedUs: 5n });
    expect(run).toMatchObject({
      name: "n",
      notes: "# ☃",
      provenance,
      startedUs: 5n,
      endedUs: 0n,
      deletedUs: 0n,
    });
    const read = await runs.getRun({ run: { path: `default/${run!.id}` } });
    expect({ ...read, position: "" }).toEqual(run);
  });
});
