import fc from "fast-check";
import { expect, it } from "vitest";
import { CHANGED, CHANGED_RUNS } from "#core/ports/journal.ts";
import { requireMatchers } from "#core/types/matchers.ts";
import { isUnder } from "#lang/namespace-path.ts";
import { artifactRecord } from "../artifact-record.ts";
import { FeedRecorder } from "../feed-recorder.ts";
import {
  appendOne,
  AUDIT,
  createRun,
  envelope,
  getRun,
  hostEnvelope,
  inEveryForm,
  newNamespace,
  newRun,
  NOW_US,
  numbers,
  refused,
  selectOf,
  useStores,
  type OpenStores,
} from "../stores.ts";

const ALL = { limit: 1_000, bytesMax: Infinity };

export function namespaceTrashContract(open: OpenStores): void {
  const bench = useStores(open);
  const trash = (path: string, deletedUs: number | undefined = NOW_US) =>
    bench.namespaces.trashNamespace(path, deletedUs, { ...AUDIT, action: "trash" });
  const restore = (path: string) =>
    bench.namespaces.trashNamespace(path, undefined, { ...AUDIT, action: "restore" });
  const paths = async (trashed: boolean) => {
    const page = { under: "", after: undefined, trashed, ...ALL };
    return (await bench.namespaces.listNamespaces(page)).rows.map(({ path }) => path);
  };
  const accessAt = async () => (await bench.under.access.loadAccess()).position;
  const inTrash = (namespace: string) =>
    refused("precondition", "NAMESPACE_DELETED", { facts: { namespace } });
  const actions = async () => {
    const anything = { principal: undefined, action: undefined, target: undefined, before: undefined };
    const entries = await bench.under.access.listAudit({ ...anything, limit: 100 });
    return entries.map(({ action }) => action).reverse();
  };

  it("N2, N20, N21, N22: everything in a namespace and below it is in the trash with it, and is back as it was", async () => {
    const [id, own, beside] = [
      await createRun(bench.runs, { namespace: "a/b" }),
      await createRun(bench.runs, { namespace: "a/b" }),
      await createRun(bench.runs, { namespace: "ab" }),
    ];
    await bench.namespaces.createNamespace(newNamespace("a/own/x"));
    await bench.runs.setDeleted(own, NOW_US + 1, AUDIT);
    await trash("a/own", NOW_US + 2);
    const before = await Promise.all([id, own, beside].map((one) => getRun(bench.runs, one)));
    expect(await trash("a", NOW_US + 3)).toMatchObject({ path: "a", deletedUs: NOW_US + 3 });
    // A second time changes nothing.
    expect(await trash("a", NOW_US + 9)).toMatchObject({ deletedUs: NOW_US + 3 });
    await inEveryForm(bench, async () => {
      expect([await paths(false), await paths(true)]).toEqual([["ab"], ["a", "a/b", "a/own", "a/own/x"]]);
      const deleted = async (one: string) => (await getRun(bench.runs, one)).deletedUs;
      expect([await deleted(id), await deleted(own), await deleted(beside)]).toEqual([
        NOW_US + 3,
        NOW_US + 1,
        undefined,
      ]);
      expect((await bench.namespaces.findNamespace("a/own/x"))!.deletedUs).toBe(NOW_US + 2);
    });
    for (const path of ["a/b", "a/own"]) await expect(restore(path)).rejects.toEqual(inTrash("a"));
    await expect(trash("a/b")).rejects.toEqual(inTrash("a"));
    await expect(restore("none")).rejects.toEqual(refused("not-found"));
    expect(await restore("a")).toMatchObject({ deletedUs: undefined });
    await restore("a");
    expect([await paths(false), await paths(true)]).toEqual([
      ["a", "a/b", "ab"],
      ["a/own", "a/own/x"],
    ]);
    expect(await Promise.all([id, own, beside].map((one) => getRun(bench.runs, one)))).toEqual(before);
    await restore("a/own");
    expect(await paths(true)).toEqual([]);
    expect((await actions()).filter((one) => one !== AUDIT.action)).toEqual([
      "trash",
      "trash",
      "restore",
      "restore",
    ]);
  });

  it("N16, N19: its runs and hosts are in no list of those outside, and the journal has one change for all", async () => {
    const ids = [];
    for (let i = 0; i < 5; i++) ids.push(await createRun(bench.runs, { namespace: "a/b" }));
    await appendOne(bench.journal, envelope(ids[0]!, 1, { series: [numbers("loss", [1])] }));
    const host = { namespace: "a", name: "n1" };
    await appendOne(bench.journal, hostEnvelope(host, [numbers("cpu", [1])]));
    const { feed } = bench.under;
    await feed.catchUp();
    const { position } = await bench.journal.changesSince(undefined, CHANGED_RUNS);
    const taken = feed.batches.length;
    const live = async () => {
      await feed.catchUp();
      const scope = { under: "", hosts: true, readable: undefined };
      const { series } = await selectOf(bench.points, "", { scope, limit: 10 });
      const hosts = async (trashed: boolean) =>
        (await bench.points.listHosts({ under: "", after: undefined, trashed, ...ALL })).rows.length;
      const runs = [...feed.runs.values()].filter((run) => !feed.isTrashed(run));
      return [runs.length, series.length, await hosts(false), await hosts(true)];
    };
    expect(await live()).toEqual([5, 2, 1, 0]);
    await trash("a");
    expect(await live()).toEqual([0, 0, 0, 1]);
    const { changes } = await bench.journal.changesSince(position, CHANGED_RUNS);
    expect(changes).toMatchObject([
      { runId: "", what: CHANGED.moved, namespaceMoves: [{ from: "a", to: "a" }] },
    ]);
    await restore("a");
    expect(await live()).toEqual([5, 2, 1, 0]);
    expect(feed.batches.slice(taken).flatMap(({ runs }) => runs)).toEqual([]);
  });

  it("N17 nothing is written into it, and its path stays taken", async () => {
    const namespace = "a/b";
    const [id, other] = [
      await createRun(bench.runs, { namespace, aliases: ["job"] }),
      await createRun(bench.runs, { namespace: "c" }),
    ];
    const host = { namespace, name: "n1" };
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1])] }));
    await appendOne(bench.journal, hostEnvelope(host, [numbers("cpu", [1])]));
    const record = artifactRecord({ name: "model", uri: "s3://b/model" });
    await bench.under.artifacts.putArtifact(id, record, NOW_US);
    const link = { childId: id, source: "data", artifact: "", createdUs: NOW_US };
    await bench.under.links.addSource({ ...link, source: "other" }, AUDIT);
    await trash("a");
    const { position } = await bench.journal.changesSince(undefined, CHANGED_RUNS);
    const at = await accessAt();
    const writes: (() => Promise<unknown>)[] = [
      () => appendOne(bench.journal, envelope(id, 2, { series: [numbers("loss", [2])] })),
      () => appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1])] })),
      () => appendOne(bench.journal, envelope(id, 0, { change: { name: "x" } })),
      () => appendOne(bench.journal, hostEnvelope(host, [numbers("cpu", [2])])),
      () => appendOne(bench.journal, hostEnvelope({ ...host, name: "n2" }, [numbers("cpu", [2])])),
      () => createRun(bench.runs, { namespace }),
      () => createRun(bench.runs, { namespace: "a/new" }),
      () => bench.runs.createRun(newRun({ namespace, aliases: ["job"] }), { getOrCreate: true }),
      () => bench.runs.updateRun(id, { name: "x" }, NOW_US),
      () => bench.runs.setDeleted(id, NOW_US, AUDIT),
      () => bench.runs.setDeleted(id, undefined, AUDIT),
      () => bench.runs.moveRun(id, { from: namespace, to: "c", accessAt: at }, NOW_US, AUDIT),
      () => bench.runs.moveRun(other, { from: "c", to: namespace, accessAt: at }, NOW_US, AUDIT),
      () => bench.namespaces.createNamespace(newNamespace("a/b/x")),
      () => bench.namespaces.updateNamespace(namespace, { description: "x" }),
      () => bench.namespaces.moveNamespace(namespace, { to: "d", accessAt: at }, NOW_US, AUDIT),
      () => bench.namespaces.moveNamespace("c", { to: "a/c", accessAt: at }, NOW_US, AUDIT),
      () => bench.under.artifacts.putArtifact(id, record, NOW_US),
      () => bench.under.artifacts.deleteArtifact(id, "model", undefined, AUDIT),
      () => bench.under.links.addSource(link, AUDIT),
      () => bench.under.links.removeSource({ childId: id, sources: ["other"], artifact: "" }, AUDIT),
    ];
    for (const [i, write] of writes.entries()) await expect(write(), String(i)).rejects.toEqual(inTrash("a"));
    for (const taken of [
      () => bench.namespaces.createNamespace(newNamespace("a")),
      () => bench.namespaces.moveNamespace("c", { to: "a", accessAt: at }, NOW_US, AUDIT),
    ]) {
      await expect(taken()).rejects.toEqual(refused("exists", "NAMESPACE_DELETED"));
    }
    expect((await bench.journal.changesSince(position, CHANGED_RUNS)).changes).toEqual([]);
    await restore("a");
    await appendOne(bench.journal, envelope(id, 2, { series: [numbers("loss", [2])] }));
  });

  it("N18, N32, N33: what is in it is destroyed piece by piece, and it only while it is in the trash", async () => {
    const id = await createRun(bench.runs, { namespace: "a/b" });
    await bench.namespaces.createNamespace(newNamespace("a/c"));
    const options = { onlyTrashed: true };
    const outside = refused("precondition", "NOT_IN_TRASH");
    await expect(bench.namespaces.deleteNamespace("a/c", AUDIT, options)).rejects.toEqual(outside);
    await expect(bench.runs.purgeRun(id, AUDIT)).rejects.toEqual(outside);
    await trash("a");
    expect(await bench.namespaces.listRunsWithin("a", 10)).toEqual([{ id, namespace: "a/b" }]);
    expect(await bench.namespaces.listRunsWithin("a/c", 10)).toEqual([]);
    const notEmpty = refused("precondition", "NAMESPACE_NOT_EMPTY");
    for (const path of ["a", "a/b"]) {
      await expect(bench.namespaces.deleteNamespace(path, AUDIT, options)).rejects.toEqual(notEmpty);
    }
    await bench.runs.purgeRun(id, AUDIT);
    for (const path of ["a/b", "a/c", "a"]) await bench.namespaces.deleteNamespace(path, AUDIT, options);
    expect([...(await paths(false)), ...(await paths(true))]).toEqual([]);
  });

  it("N32 a purge that lost a race with a restore deletes no series of a host", async () => {
    const host = { namespace: "a/b", name: "n1" };
    await appendOne(bench.journal, hostEnvelope(host, [numbers("cpu", [1])]));
    const every = requireMatchers([{ label: "", op: "=~", value: ".*" }]);
    const bounds = { after: undefined, pointsMax: 1_000, seriesMax: 1_000, onlyTrashed: true };
    const whole = { matchers: every, axis: "step" as const, from: undefined, to: undefined, ...bounds };
    const remove = () => bench.points.deleteSeries({ owner: { host }, ...whole }, AUDIT);
    await trash("a");
    await restore("a");
    await expect(remove()).rejects.toEqual(refused("precondition", "NOT_IN_TRASH"));
    await trash("a");
    expect(await remove()).toMatchObject({ series: 1, points: 1 });
    // Another purge was faster.
    await bench.namespaces.deleteNamespace("a/b", AUDIT, { onlyTrashed: true });
    expect(await remove()).toMatchObject({ series: 0 });
  });

  const PATHS = ["a", "a/b", "a/b/c", "d"];
  const path = fc.constantFrom(...PATHS);
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.tuple(fc.constant("trash" as const), path) },
    { weight: 3, arbitrary: fc.tuple(fc.constant("restore" as const), path) },
    { weight: 2, arbitrary: fc.tuple(fc.constant("create" as const), path) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("delete-run" as const), path) },
    { weight: 2, arbitrary: fc.tuple(fc.constant("take" as const), path) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("kill" as const), path) },
  );

  it("N2, N20, N22, J8: followers that stop after any part end with every run in the trash that is there", async () => {
    const { changes } = bench.under;
    for (const one of PATHS) await bench.namespaces.createNamespace(newNamespace(one)).catch(() => undefined);
    const marked = new Set<string>();
    const runs = new Map<string, { namespace: string; deleted: boolean }>();
    const isTrashed = (at: string) => [...marked].some((one) => isUnder(at, one));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), async (steps) => {
        let slow = new FeedRecorder(changes);
        for (const [what, at] of steps) {
          const above = [...marked].some((one) => one !== at && isUnder(at, one));
          if (what === "trash") {
            if (marked.has(at) || !above) await trash(at);
            else await expect(trash(at)).rejects.toEqual(refused("precondition", "NAMESPACE_DELETED"));
            if (!above) marked.add(at);
          } else if (what === "restore") {
            if (above)
              await expect(restore(at)).rejects.toEqual(refused("precondition", "NAMESPACE_DELETED"));
            else {
              await restore(at);
              marked.delete(at);
            }
          } else if (what === "create" && !isTrashed(at)) {
            runs.set(await createRun(bench.runs, { namespace: at }), { namespace: at, deleted: false });
          } else if (what === "delete-run" && !isTrashed(at)) {
            const [id, run] = [...runs].find(([, one]) => one.namespace === at && !one.deleted) ?? [];
            if (id === undefined) continue;
            await bench.runs.setDeleted(id, NOW_US, AUDIT);
            run!.deleted = true;
          } else if (what === "take") await slow.takeOne();
          else if (what === "kill") slow = slow.resume(changes);
        }
        const expected = Array.from(runs, ([id, one]) => [id, one.deleted || isTrashed(one.namespace)]);
        for (const follower of [slow, bench.under.feed, new FeedRecorder(changes)]) {
          await follower.catchUp();
          const known = Array.from(follower.runs.values(), (run) => [run.id, follower.isTrashed(run)]);
          expect(new Map(known as [string, boolean][])).toEqual(new Map(expected as [string, boolean][]));
        }
        for (const [id, trashed] of expected) {
          expect((await getRun(bench.runs, String(id))).deletedUs !== undefined).toBe(trashed);
        }
        expect((await paths(true)).toSorted()).toEqual(PATHS.filter(isTrashed).toSorted());
      }),
      { numRuns: 25 },
    );
  });
}
