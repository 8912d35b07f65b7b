import fc from "fast-check";
import { expect, it } from "vitest";
import type { Identity } from "#core/access/caller.ts";
import { CairnError } from "#lang/errors.ts";
import { movedPath } from "#lang/namespace-path.ts";
import { ADMIN, as, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { logLines } from "../naive-log.ts";
import { readNumbers, refused, useStores, type OpenStores } from "../stores.ts";
import { withMethod } from "../with-method.ts";
import { makeRun, refTo, SEARCH, SOON, TwoCores, writeNumbered } from "./moving.ts";

const PATHS = ["a", "a/b", "c", "d/e"];

/** Namespaces that one core moves while another uses them. */
export function coreAccessNamespaceMovesTwoCoresContract(open: OpenStores): void {
  const bench = useStores(open);
  const two = new TwoCores(bench);
  const move = (at: AccessUnderTest, from: string, to: string) =>
    at.core.namespaceMoves.move(ADMIN, from, to);

  it("H14 a policy that is set while a move ends is kept, though the policies of before come late", async () => {
    const { namespaces } = bench;
    const [read, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let delayed = false;
    const listCapturePolicies: typeof namespaces.listCapturePolicies = async () => {
      const policies = await namespaces.listCapturePolicies();
      if (delayed) {
        delayed = false;
        read.resolve();
        await late.promise;
      }
      return policies;
    };
    const slow = withMethod(namespaces, "listCapturePolicies", listCapturePolicies);
    const { core } = await openAccess({ ...bench.under, namespaces: slow });
    await makeRun(two.first, "a");
    await core.follower.catchUp();
    delayed = true;
    const ended = core.captures.forbidAtBoth("b", "c").release();
    await read.promise;
    await two.first.namespaces.update(ADMIN, { path: "a", forbidsCode: true });
    const followed = core.follower.catchUp();
    // Long enough for the follower to load them, if it did not wait.
    for (let i = 0; i < 20; i++) await namespaces.findNamespace("a");
    late.resolve();
    await Promise.all([ended, followed]);
    expect(core.captures.forbiddenIn("a").code).toBe("a");
  });

  it("H14 N13 what is moved here is there within a two.second, with its roles, closures and policies", async () => {
    for (const name of ["ada", "eve"]) await two.first.user(name);
    await two.first.bind("ada", "viewer", on("a/b"));
    await two.first.bind("eve", "viewer", on(""));
    await two.first.close(on("a/b"));
    const id = await makeRun(two.first, "a/b");
    await two.first.namespaces.update(as(ADMIN, "maintain"), { path: "a", forbidsConsole: true });
    const [ada, eve] = [await two.atSecond("ada", ["a"]), await two.atSecond("eve")];
    const seen = async (identity: Identity, namespace: string) =>
      (await two.second.runs.search(as(identity, "read"), { ...SEARCH, namespace })).totalCount;
    expect((await two.second.runs.whereIs(ADMIN, refTo(id))).namespace).toBe("a/b");
    await move(two.first, "a", "z/a");
    expect((await two.first.runs.whereIs(ADMIN, refTo(id))).namespace).toBe("z/a/b");
    const there = async () => [
      (await two.second.runs.whereIs(ADMIN, refTo(id))).namespace,
      two.second.core.captures.forbiddenIn("z/a").console,
      two.second.core.captures.forbiddenIn("a").console,
      await seen(ada, "z"),
      await seen(eve, "z"),
    ];
    await expect.poll(there, SOON).toEqual(["z/a/b", "z/a", undefined, 1, 0]);
    await expect(two.second.runs.get(as(eve, "read"), refTo(id))).rejects.toEqual(refused("not-found"));
  });

  it("N14 a core that does not know of the move yet judges an envelope by where the run is", async () => {
    for (const name of ["ada", "ben"]) await two.first.user(name);
    await two.first.bind("ada", "writer", on("a"));
    await two.first.bind("ben", "writer", on("c"));
    const [ada, ben] = [await two.atSecond("ada", ["a/b"]), await two.atSecond("ben")];
    const id = await makeRun(two.first, "a/b");
    await writeNumbered(two.second, ada, id, 1);
    await two.second.follower.catchUp();
    // From here on it asks for nothing by itself.
    two.second.follower.stop();
    await move(two.first, "a", "z");
    expect((await two.second.runs.whereIs(ADMIN, refTo(id))).namespace).toBe("a/b");
    // Her role and the limit of her token went along.
    expect(await writeNumbered(two.second, ada, id, 2)).toMatchObject({ seq: 2, duplicate: false });
    await move(two.first, "z/b", "c/b");
    // The limit of her token follows, to where she has no role.
    await expect(writeNumbered(two.second, ada, id, 3)).rejects.toEqual(refused("forbidden", "NO_RIGHT"));
    expect(await writeNumbered(two.second, ben, id, 3)).toMatchObject({ seq: 3, duplicate: false });
    expect(await readNumbers(bench.points, id, "loss")).toEqual([1, 2, 3]);
  });

  it("N14 a core that does not know of the move yet withholds what must not be captured at the new path", async () => {
    await two.first.user("ada");
    await two.first.bind("ada", "writer", on("a"));
    const ada = await two.atSecond("ada");
    const id = await makeRun(two.first, "a");
    await two.first.namespaces.update(as(ADMIN, "maintain"), { path: "a", forbidsConsole: true });
    await two.second.follower.catchUp();
    two.second.follower.stop();
    await move(two.first, "a", "z");
    const ack = await two.second.core.ingest.write(as(ada, "write"), {
      run: refTo(id),
      writer: "w",
      seq: 1,
      series: [],
      change: undefined,
      lost: [],
      log: [logLines(["hello"])],
    });
    expect(ack.withheld).toMatchObject({ lines: 1 });
  });

  it("A52 moves of namespaces, runs and access by both at once end as if made one after the other", async () => {
    for (const name of ["u1", "u2"]) await two.first.user(name);
    const path = fc.constantFrom(...PATHS);
    const step = fc.record({
      core: fc.constantFrom(0, 1),
      act: fc.oneof(
        { weight: 3, arbitrary: fc.tuple(fc.constant("move" as const), path, path) },
        { weight: 1, arbitrary: fc.tuple(fc.constant("create" as const), path, path) },
        { weight: 1, arbitrary: fc.tuple(fc.constant("move-run" as const), path, path) },
        { weight: 1, arbitrary: fc.tuple(fc.constant("close-run" as const), path, path) },
        { weight: 1, arbitrary: fc.tuple(fc.constant("bind-run" as const), path, path) },
      ),
    });
    const atOnce = fc.array(step, { minLength: 1, maxLength: 4 });
    const ids: string[] = [];
    let number = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(atOnce, { minLength: 1, maxLength: 4 }), async (schedule) => {
        for (const steps of schedule) {
          const outcomes = steps.map(async ({ core, act: [what, from, to] }) => {
            const at = core === 0 ? two.first : two.second;
            const id = ids[number++ % Math.max(1, ids.length)];
            if (what === "move") return move(at, from, to);
            if (what === "create") return ids.push(await makeRun(two.first, to));
            if (id === undefined) return undefined;
            const scope = on("", id);
            if (what === "move-run") return at.core.runMoves.move(ADMIN, refTo(id), to);
            if (what === "close-run") return at.access.setClosed(ADMIN, { scope, closed: true });
            return at.access.bindRole(ADMIN, { principal: "u1", role: "viewer", scope });
          });
          for (const outcome of await Promise.allSettled(outcomes)) {
            if (outcome.status === "fulfilled") continue;
            expect(["not-found", "exists", "invalid"]).toContain(CairnError.from(outcome.reason).code);
          }
        }
        const content = await bench.under.access.loadAccess();
        for (const scope of [...content.closed, ...content.bindings.map((one) => one.scope)]) {
          const { namespace } = await two.first.runs.get(ADMIN, refTo(scope.runId!));
          expect(scope.namespace).toBe(namespace);
        }
        for (const { follower, runs, access } of [two.first, two.second]) {
          await follower.catchUp();
          const { runs: found } = await runs.search(ADMIN, { ...SEARCH, pageSize: 1_000 });
          for (const { run } of found) {
            expect((await runs.whereIs(ADMIN, refTo(run.id))).namespace).toBe(run.namespace);
            const { scope } = await access.getScope(ADMIN, on("", run.id));
            expect(scope.namespace).toBe(run.namespace);
          }
        }
      }),
      { numRuns: 25 },
    );
    // What the audit says, one after the other, leads to where the namespaces are.
    const everything = { principal: "", action: "", target: "", pageSize: 1_000, pageToken: "" };
    const { entries } = await two.first.access.listAudit(ADMIN, everything);
    const places = new Map<string, string>();
    for (const { action, target, facts } of entries.reverse()) {
      if (action === "move-run") places.set(target, facts["to"]!);
      if (action !== "move-namespace") continue;
      for (const [id, at] of places) places.set(id, movedPath(at, facts["from"]!, facts["to"]!));
    }
    for (const [id, at] of places) expect((await two.first.runs.get(ADMIN, refTo(id))).namespace).toBe(at);
    expect(await bench.under.access.verifyAudit()).toMatchObject({ problems: [] });
  });
}
