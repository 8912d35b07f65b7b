import fc from "fast-check";
import { expect, it } from "vitest";
import type { Scope } from "#core/types/scope.ts";
import type { AccessChange, AuditRecord, StoredToken } from "#core/ports/access-store.ts";
import { CHANGED, CHANGED_RUNS } from "#core/ports/journal.ts";
import type { KeyDescription } from "#core/types/namespace.ts";
import { limits } from "#lang/limits.ts";
import { FeedRecorder } from "../feed-recorder.ts";
import {
  ackOf,
  appendOne,
  AUDIT,
  createRun,
  envelope,
  getRun,
  hostEnvelope,
  inEveryForm,
  newNamespace,
  NOW_US,
  numbers,
  readNumbers,
  refused,
  useStores,
  type OpenStores,
} from "../stores.ts";

const MOVED: AuditRecord = { ...AUDIT, action: "move-namespace" };
const ALL = { limit: 1_000, bytesMax: Infinity };

export function namespaceMovesContract(open: OpenStores): void {
  const bench = useStores(open);
  const accessAt = async () => (await bench.under.access.loadAccess()).position;
  const move = async (from: string, to: string) =>
    bench.namespaces.moveNamespace(from, { to, accessAt: await accessAt() }, NOW_US + 1, MOVED);
  const listed = async () => {
    const page = { under: "", after: undefined, ...ALL };
    return (await bench.namespaces.listNamespaces(page)).rows;
  };
  const paths = async () => (await listed()).map(({ path }) => path);
  const auditEntries = async () => {
    const anything = { principal: undefined, target: undefined, before: undefined };
    return bench.under.access.listAudit({ ...anything, action: MOVED.action, limit: 100 });
  };
  const keyAt = (namespace: string): KeyDescription => ({
    namespace,
    key: "loss",
    unit: "nat",
    direction: "minimize",
    description: "",
    picture: undefined,
  });

  it("N11, N23, N24: moves a namespace with everything in it and below it", async () => {
    const objective = { metric: "loss", direction: "minimize" } as const;
    await bench.namespaces.createNamespace({
      ...newNamespace("lab/a", { description: "one" }),
      objective,
      tags: new Map([["team", "x"]]),
    });
    await bench.namespaces.updateNamespace("lab/a", { forbidsCode: true });
    const id = await createRun(bench.runs, { namespace: "lab/a/b", aliases: ["job"] });
    const other = await createRun(bench.runs, { namespace: "lab/ab" });
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1, 2])] }));
    const host = { namespace: "lab/a/b", name: "n1" };
    await appendOne(bench.journal, hostEnvelope(host, [numbers("cpu", [1])]));
    await bench.namespaces.describeKey(keyAt("lab/a"));
    const before = await listed();
    expect(await move("lab/a", "new/deep/place")).toEqual({
      ...before.find(({ path }) => path === "lab/a"),
      path: "new/deep/place",
    });
    await inEveryForm(bench, async () => {
      expect(await paths()).toEqual([
        "lab",
        "lab/ab",
        "new",
        "new/deep",
        "new/deep/place",
        "new/deep/place/b",
      ]);
      for (const { path, ...rest } of before) {
        const now = path.replace(/^lab\/a(?=$|\/)/, "new/deep/place");
        expect(await bench.namespaces.findNamespace(rest.id)).toEqual({ ...rest, path: now });
      }
      expect((await getRun(bench.runs, id)).namespace).toBe("new/deep/place/b");
      expect((await getRun(bench.runs, other)).namespace).toBe("lab/ab");
      for (const [namespace, ids] of [
        ["new/deep", [id]],
        ["lab", []],
      ] as const) {
        const found = await bench.runs.findRuns({ by: "alias", alias: "job", namespace });
        expect(found.map((run) => run.id)).toEqual(ids);
      }
      expect(await readNumbers(bench.points, id, "loss")).toEqual([1, 2]);
      const hosts = await bench.points.listHosts({ under: "new", after: undefined, ...ALL });
      expect(hosts.rows).toMatchObject([{ namespace: "new/deep/place/b", name: "n1" }]);
      const keys = await bench.namespaces.listKeys(["new/deep/place"], { after: undefined, ...ALL });
      expect(keys.rows).toEqual([keyAt("new/deep/place")]);
      const held = await bench.namespaces.findObjectives(["lab/a", "new/deep/place"]);
      expect(held).toEqual([["new/deep/place", objective]]);
      const policies = await bench.namespaces.listCapturePolicies();
      expect(policies.map(([path]) => path)).toEqual(["new/deep/place"]);
      // The ledger is unchanged.
      expect(
        await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1, 2])] })),
      ).toMatchObject({
        duplicate: true,
      });
    });
    expect(await auditEntries()).toHaveLength(1);
    // The old path is free, and another namespace there is another one.
    await createRun(bench.runs, { namespace: "lab/a/b", aliases: ["job"] });
    const fresh = await bench.namespaces.findNamespace("lab/a");
    expect(before.map((one) => one.id)).not.toContain(fresh!.id);
    expect(fresh).toMatchObject({ description: "", objective: undefined });
  });

  it("N11 a path is compared to the letter, and a namespace may go above itself or be renamed beside itself", async () => {
    for (const path of ["a%b/ä🎉/x", "a%b/äb", "aXb/ä🎉"])
      await bench.namespaces.createNamespace(newNamespace(path));
    await move("a%b/ä🎉", "a%b/_");
    expect(await paths()).toEqual(["a%b", "a%b/_", "a%b/_/x", "a%b/äb", "aXb", "aXb/ä🎉"]);
    await move("a%b/_", "_");
    expect(await paths()).toEqual(["_", "_/x", "a%b", "a%b/äb", "aXb", "aXb/ä🎉"]);
    await move("_/x", "x");
    await move("_", "x/_");
    expect(await paths()).toEqual(["a%b", "a%b/äb", "aXb", "aXb/ä🎉", "x", "x/_"]);
  });

  it("N26, N27, N28: refuses what is missing, taken or would break a limit below, and changes nothing", async () => {
    const segment = "s".repeat(limits.namespacePathBytesMax / 2 - 1);
    const deep = Array.from({ length: limits.namespaceDepthMax - 1 }, (_, i) => `d${i}`).join("/");
    for (const path of ["a/b", "c", "c/a", `long/${segment}`, deep]) {
      await bench.namespaces.createNamespace(newNamespace(path));
    }
    const before = [await listed(), await bench.journal.changesSince(0, CHANGED_RUNS)];
    const refusals: [string, string, unknown][] = [
      ["none", "fresh/a", refused("not-found")],
      ["a", "c", refused("exists")],
      ["a/b", "c/a", refused("exists")],
      ["long", `fresh/${segment}/x`, refused("invalid")],
      ["d0", "fresh/e/f", refused("invalid")],
    ];
    for (const [from, to, refusal] of refusals) await expect(move(from, to)).rejects.toEqual(refusal);
    expect([await listed(), await bench.journal.changesSince(0, CHANGED_RUNS)]).toEqual(before);
    expect(await auditEntries()).toEqual([]);
    await move("d0", "fresh/e");
    expect(await paths()).toContain(`fresh/e${deep.slice(2)}`);
  });

  it("A58 takes along what is bound and closed there and below, the limits of tokens, and nothing else", async () => {
    const id = await createRun(bench.runs, { namespace: "a/b" });
    const other = await createRun(bench.runs, { namespace: "ab" });
    const stay: Scope[] = [{ namespace: "" }, { namespace: "ab" }, { namespace: "ab", runId: other }];
    const go = (path: string): Scope[] => [
      { namespace: path },
      { namespace: `${path}/b` },
      { namespace: `${path}/not/there` },
      { namespace: `${path}/b`, runId: id },
      { namespace: `${path}/b`, runId: id, artifact: "x" },
    ];
    const binding = { principal: "everyone", role: "viewer" as const, createdUs: NOW_US, createdBy: "ada" };
    const token = (name: string, namespaces: string[]): StoredToken => ({
      id: name,
      kind: "token",
      principal: "ada",
      parent: undefined,
      passwordOf: undefined,
      name,
      hash: name,
      pageHash: undefined,
      role: undefined,
      namespaces,
      createdUs: NOW_US,
      expiresUs: undefined,
      lastUsedUs: undefined,
    });
    const ada = { name: "ada", kind: "user", displayName: "", disabled: false, createdUs: 0 } as const;
    const tokens = [token("all", []), token("else", ["ab", "z"]), token("in", ["a", "z/a/b", "ab", "a/b/c"])];
    const changes = [...stay, ...go("a")].flatMap((scope): AccessChange[] => [
      { do: "put-binding", binding: { ...binding, scope } },
      { do: "set-closed", scope, closed: true },
    ]);
    changes.push({ do: "put-principal", principal: { ...ada, password: undefined } });
    for (const one of tokens) changes.push({ do: "put-token", token: one });
    await bench.under.access.changeAccess(changes, []);
    const before = await accessAt();
    await move("a", "z/a");
    const content = await bench.under.access.loadAccess();
    for (const scopes of [content.bindings.map(({ scope }) => scope), content.closed]) {
      expect(scopes).toHaveLength(8);
      expect(scopes).toEqual(expect.arrayContaining([...stay, ...go("z/a")]));
    }
    expect(new Map(content.tokens.map((one) => [one.id, one]))).toEqual(
      new Map(
        [tokens[0]!, tokens[1]!, token("in", ["z/a", "z/a/b", "ab", "z/a/b/c"])].map((one) => [one.id, one]),
      ),
    );
    const kinds = CHANGED.access | CHANGED.moved | CHANGED.namespaces;
    const { changes: noted } = await bench.journal.changesSince(before, kinds);
    expect(noted).toMatchObject([
      { runId: "", what: CHANGED.moved | CHANGED.namespaces, namespaceMoves: [{ from: "a", to: "z/a" }] },
      { runId: "", what: CHANGED.access },
    ]);
  });

  it("A52 does nothing when access has changed since it was looked at", async () => {
    await bench.namespaces.createNamespace(newNamespace("a"));
    const planned = await accessAt();
    const closing: AccessChange = { do: "set-closed", scope: { namespace: "c" }, closed: true };
    await bench.under.access.changeAccess([closing], []);
    const asked = { to: "b", accessAt: planned };
    expect(await bench.namespaces.moveNamespace("a", asked, NOW_US, MOVED)).toBeUndefined();
    // Of what is at either path nothing is said either.
    expect(await bench.namespaces.moveNamespace("none", asked, NOW_US, MOVED)).toBeUndefined();
    expect(await paths()).toEqual(["a"]);
    const now = await accessAt();
    expect(
      await bench.namespaces.moveNamespace("a", { to: "b", accessAt: now }, NOW_US, MOVED),
    ).toBeDefined();
    // A namespace on which nothing is bound changes nothing of access.
    expect((await bench.journal.changesSince(now, CHANGED.access)).changes).toEqual([]);
  });

  it("N14 refuses an envelope that was judged at the old path, and no other of its group", async () => {
    const [id, other] = [
      await createRun(bench.runs, { namespace: "a/b" }),
      await createRun(bench.runs, { namespace: "c" }),
    ];
    const one = (runId: string, seq: number, namespace?: string) =>
      envelope(runId, seq, { namespace, series: [numbers("loss", [seq], seq)] });
    await appendOne(bench.journal, one(id, 1, "a/b"));
    // In one group of the store: what comes after the move is judged by it.
    const before = bench.journal.append([one(id, 2, "a/b")], NOW_US);
    const moved = bench.namespaces.moveNamespace("a", { to: "z", accessAt: await accessAt() }, NOW_US, MOVED);
    const after = bench.journal.append([one(id, 3, "a/b"), one(other, 1, "c"), one(id, 1, "a/b")], NOW_US);
    expect(ackOf((await before)[0])).toMatchObject({ duplicate: false });
    expect(await moved).toMatchObject({ path: "z" });
    const refusal = { ok: false, error: refused("precondition", "RUN_MOVED") };
    const [late, elsewhere, replayed] = await after;
    expect([late, replayed]).toEqual([refusal, refusal]);
    expect(ackOf(elsewhere)).toMatchObject({ duplicate: false });
    // Also where another namespace has got the old path.
    await createRun(bench.runs, { namespace: "a/b" });
    await expect(appendOne(bench.journal, one(id, 3, "a/b"))).rejects.toEqual(refusal.error);
    expect(await appendOne(bench.journal, one(id, 3, "z/b"))).toMatchObject({ duplicate: false });
    await inEveryForm(bench, async () => {
      expect(await readNumbers(bench.points, id, "loss")).toEqual([1, 2, 3]);
    });
  });

  it("N15, N25: the journal has each move, and no run, however many there are", async () => {
    const ids = [];
    for (let i = 0; i < 20; i++) ids.push(await createRun(bench.runs, { namespace: `a/${i % 3}` }));
    const { position: begun } = await bench.journal.changesSince(undefined, CHANGED_RUNS);
    const at: number[] = [];
    for (const [from, to] of [
      ["a", "b"],
      ["b/0", "a"],
    ] as const) {
      await move(from, to);
      at.push((await bench.journal.changesSince(undefined, CHANGED_RUNS)).position);
    }
    await inEveryForm(bench, async () => {
      const { changes } = await bench.journal.changesSince(begun, CHANGED_RUNS);
      expect(changes).toEqual([
        {
          position: at[1],
          runId: "",
          namespace: "",
          what: CHANGED.moved,
          envelopes: 0,
          namespaceMoves: [
            { from: "a", to: "b", position: at[0] },
            { from: "b/0", to: "a", position: at[1] },
          ],
        },
      ]);
    });
    const { changes } = await bench.journal.changesSince(at[0], CHANGED_RUNS);
    expect(changes[0]!.namespaceMoves).toEqual([{ from: "b/0", to: "a", position: at[1] }]);
    await appendOne(bench.journal, envelope(ids[0]!, 1, { series: [numbers("loss", [1])] }));
    const later = await bench.journal.changesSince(begun, CHANGED_RUNS);
    expect(later.changes.at(-1)).toMatchObject({ runId: ids[0], namespace: "a", what: CHANGED.points });
  });

  it("J8 the run index is sent the paths of namespaces, and no run again", async () => {
    const ids = [];
    for (let i = 0; i < 20; i++) ids.push(await createRun(bench.runs, { namespace: `a/${i % 3}` }));
    const { feed } = bench.under;
    await feed.catchUp();
    const taken = feed.batches.length;
    await move("a", "b");
    await feed.catchUp();
    const later = feed.batches.slice(taken);
    expect(later.flatMap(({ runs, purged }) => [...runs, ...purged])).toEqual([]);
    expect(
      later
        .at(-1)!
        .namespaces!.map(([, path]) => path)
        .toSorted(),
    ).toEqual(["b", "b/0", "b/1", "b/2"]);
    for (const [i, id] of ids.entries()) expect(feed.findRun(id)!.namespace).toBe(`b/${i % 3}`);
    // Only where one was moved.
    await createRun(bench.runs, { namespace: "a" });
    await feed.catchUp();
    expect(feed.batches.at(-1)!.namespaces).toBeUndefined();
  });

  const PATHS = ["a", "a/b", "b", "c/a", "c"];
  const path = fc.constantFrom(...PATHS);
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant("move" as const), from: path, to: path }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("create" as const), to: path }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("move-run" as const), run: fc.nat(20), to: path }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("touch" as const), run: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("purge" as const), run: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), from: path }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("begin" as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("take" as const), follower: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("kill" as const), follower: fc.nat(3) }) },
  );

  it("J8, J4: followers that stop after any part, and begin later, end with every run where it is", async () => {
    const ids: string[] = [];
    const { changes } = bench.under;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const followers = [bench.under.feed, new FeedRecorder(changes)];
        const pick = <T>(items: readonly T[], n: number) => items[n % items.length];
        for (const one of steps) {
          if (one.do === "create") ids.push(await createRun(bench.runs, { namespace: one.to }));
          else if (one.do === "begin") followers.push(new FeedRecorder(changes));
          else if (one.do === "take") await pick(followers, one.follower)!.takeOne();
          else if (one.do === "kill") {
            const at = one.follower % followers.length;
            followers[at] = followers[at]!.resume(changes);
          } else if (one.do === "remove") {
            await bench.namespaces.deleteNamespace(one.from, AUDIT).catch(() => undefined);
          } else if (one.do === "move") {
            const isInside = one.to === one.from || one.to.startsWith(`${one.from}/`);
            if (!isInside) await move(one.from, one.to).catch(() => undefined);
          } else {
            const id = pick(ids, one.run);
            if (id === undefined) continue;
            const { namespace: from } = await getRun(bench.runs, id);
            if (one.do === "move-run") {
              const asked = { from, to: one.to, accessAt: await accessAt() };
              if (from !== one.to) await bench.runs.moveRun(id, asked, NOW_US, AUDIT);
            } else if (one.do === "touch") await bench.runs.updateRun(id, { notes: "touched" }, NOW_US);
            else {
              await bench.runs.setDeleted(id, NOW_US, AUDIT);
              await bench.runs.purgeRun(id, AUDIT);
              ids.splice(ids.indexOf(id), 1);
            }
          }
        }
        const places = [];
        for (const id of ids) places.push([id, (await getRun(bench.runs, id)).namespace]);
        for (const follower of [...followers, new FeedRecorder(changes)]) {
          await follower.catchUp();
          const known = [...follower.runs.values()].map((run) => [run.id, run.namespace]);
          expect(new Map(known as [string, string][])).toEqual(new Map(places as [string, string][]));
        }
      }),
      { numRuns: 30 },
    );
  });
}
