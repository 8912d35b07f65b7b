import { beforeEach, expect, it } from "vitest";
import type { Identity } from "#core/access/caller.ts";
import { limits } from "#lang/limits.ts";
import { EVERY_LINE } from "#core/types/log.ts";
import type { Journal } from "#core/ports/journal.ts";
import { ADMIN, as, here, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { groupsOf } from "../core-under-test.ts";
import { FeedRecorder } from "../feed-recorder.ts";
import { logLines } from "../naive-log.ts";
import { OvertakenSearch } from "../overtaken-search.ts";
import { numbers, refused, useStores, type OpenStores } from "../stores.ts";
import { ALL_RUNS, touch, WatchReader } from "../watch/reader.ts";
import { withMethod } from "../with-method.ts";
import { makeRun, MAY_NOT_MOVE, SEARCH, userWith } from "./moving.ts";

const EMPTY = { writer: "", seq: 0, series: [], change: undefined, lost: [] };

/** Who may move a run, and what each caller sees of it afterwards. */
export function coreAccessMovesContract(open: OpenStores): void {
  const bench = useStores(open);
  let at: AccessUnderTest;
  beforeEach(async () => {
    at = await openAccess(bench.under);
  });
  const move = (identity: Identity, id: string, namespace: string) =>
    at.core.runMoves.move(as(identity, "maintain"), { by: "id", id }, namespace);
  const placeOf = async (id: string) => (await at.runs.get(ADMIN, { by: "id", id })).namespace;
  const moves = async () => (await at.audit()).filter((entry) => entry.startsWith("move-run"));

  it("A50 only a maintainer of both places moves a run", async () => {
    const id = await makeRun(at, "a");
    for (const { name, roles, refusal } of MAY_NOT_MOVE) {
      const identity = await userWith(at, name, ...roles);
      await expect(move(identity, id, "b")).rejects.toEqual(refusal);
    }
    // A hidden run is answered like a missing one, and so is a namespace.
    const alone = here(at.access.identify((await at.token("alone")).secret));
    const saidOf = (of: string, namespace: string) =>
      move(alone, of, namespace).then(String, (thrown) =>
        String(thrown).replaceAll(of, "ID").replaceAll(namespace, "NS"),
      );
    expect(await saidOf(await makeRun(at, "b"), "a")).toBe(await saidOf("0".repeat(32), "a"));
    expect(await saidOf(id, "b")).toBe(await saidOf(id, "none"));
    const ada = await userWith(at, "ada", ["maintainer", "a"], ["maintainer", "b"]);
    for (const wrong of ["", "/b", "b//c", "b/.."]) {
      await expect(move(ada, id, wrong)).rejects.toEqual(refused("invalid"));
    }
    expect([await placeOf(id), await moves()]).toEqual(["a", []]);
    expect(await move(ada, id, "b/new")).toEqual({ id, from: "a", to: "b/new" });
    expect(await placeOf(id)).toBe("b/new");
    expect(await moves()).toEqual([`move-run ${id}`]);
  });

  it("A51 a run that is moved out of sight while an answer is made is not in it", async () => {
    const search = new OvertakenSearch(new FeedRecorder(bench.under.changes));
    at = await openAccess(bench.under, { search, waveMs: 1 });
    const ada = as(await userWith(at, "ada", ["viewer", "open"]), "read");
    const objective = { metric: "loss", direction: "minimize" } as const;
    await at.namespaces.create(ADMIN, { path: "open", description: "", objective });
    const id = await makeRun(at, "open");
    const ref = { by: "id", id } as const;
    await at.core.ingest.write(ADMIN, { ...EMPTY, run: ref, series: [numbers("loss", [1])] });
    const to = (namespace: string) => at.core.runMoves.move(ADMIN, ref, namespace).then(() => undefined);
    const hide = () => to("secret/place");

    search.next = hide;
    expect((await at.runs.search(ada, SEARCH)).runs).toEqual([]);
    await to("open");
    search.next = hide;
    expect((await at.namespaces.get(ada, "open", { withBest: true })).best).toBeUndefined();
    await to("open");
    search.next = hide;
    const goals = ["min", "max"].map(
      (stat) => ({ field: `metrics.loss.${stat}`, direction: "minimize" }) as const,
    );
    const everywhere = { runs: { query: "", namespace: "" }, goals };
    expect((await at.core.explore.frontier(ada, everywhere)).runs).toEqual([]);
    await to("open");
    expect((await at.core.explore.frontier(ada, everywhere)).runs).toMatchObject([{ id, namespace: "open" }]);
    const groups = groupsOf({ groupBy: ["namespace"] });
    expect((await at.core.groups.read(ada, groups)).groups).toMatchObject([{ values: ['"open"'] }]);
    search.next = hide;
    expect((await at.core.groups.read(ada, groups)).groups).toEqual([]);
    await to("open");
    await at.runs.update(ADMIN, ref, { notes: "n".repeat(limits.lightRunBytesMax + 1) });
    await expect(at.runs.get(ada, ref, hide)).rejects.toEqual(refused("not-found"));
    await to("open");
    const reader = await WatchReader.open(at.core, { runs: ALL_RUNS }, ada);
    search.next = hide;
    await touch(at.core, id, "x", "1");
    expect(await reader.next("runs")).toMatchObject({ runs: [], left: [id] });
    await reader.leave();
  });

  it("A51 a run that is moved out of sight while it is changed is not in the answer", async () => {
    const { runs } = bench.under;
    let next: (() => Promise<unknown>) | undefined;
    const overtaken = new Proxy(runs, {
      get: (store, name) => {
        const method = Reflect.get(store, name).bind(store);
        if (name !== "updateRun" && name !== "setDeleted") return method;
        return async (...args: unknown[]) => {
          await next?.();
          return method(...args);
        };
      },
    });
    at = await openAccess({ ...bench.under, runs: overtaken });
    const ada = as(await userWith(at, "ada", ["maintainer", "open"]), "maintain");
    const ref = { by: "id", id: await makeRun(at, "open") } as const;
    const to = (namespace: string) => at.core.runMoves.move(ADMIN, ref, namespace);
    for (const change of [
      () => at.runs.update(ada, ref, { name: "n" }),
      () => at.runs.delete(ada, ref),
      () => at.runs.restore(ada, ref),
    ]) {
      next = () => to("secret/place");
      await expect(change()).rejects.toEqual(refused("not-found"));
      next = undefined;
      await to("open");
      expect(await change()).toMatchObject({ namespace: "open" });
    }
  });

  it("A42 a right that is held is that of where the run is, also when an earlier look comes last", async () => {
    const [looked, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { runs } = bench.under;
    let delayed = false;
    const getRuns: typeof runs.getRuns = async (...args) => {
      const found = await runs.getRuns(...args);
      if (delayed) {
        delayed = false;
        looked.resolve();
        await late.promise;
      }
      return found;
    };
    at = await openAccess({ ...bench.under, runs: withMethod(runs, "getRuns", getRuns) });
    const ada = await userWith(at, "ada", ["viewer", "a"], ["viewer", "b"]);
    const id = await makeRun(at, "a");
    delayed = true;
    const holding = at.core.artifacts.hold(as(ada, "read"), { run: { by: "id", id }, name: "model" });
    await looked.promise;
    await at.core.runMoves.move(ADMIN, { by: "id", id }, "b");
    late.resolve();
    const right = await holding;
    expect(right.signal.aborted).toBe(false);
    await at.access.unbindRole(ADMIN, { principal: "ada", scope: on("b") });
    await expect.poll(() => right.signal.aborted).toBe(true);
    right.release();
  });

  it("U22 an envelope whose run others move all the time is refused as one to be sent again", async () => {
    const id = await makeRun(at, "a");
    let moved = 0;
    const append: Journal["append"] = async (...args) => {
      if (moved < 10) await at.core.runMoves.move(ADMIN, { by: "id", id }, `b/${moved++}`);
      return bench.journal.append(...args);
    };
    const { journal } = bench;
    const overtaken = new Proxy(journal, {
      get: (target, name) => (name === "append" ? append : Reflect.get(target, name).bind(target)),
    });
    at = await openAccess({ ...bench.under, journal: overtaken });
    const envelope = { ...EMPTY, run: { by: "id", id } as const, series: [numbers("loss", [1])] };
    await expect(at.core.ingest.write(ADMIN, envelope)).rejects.toEqual(refused("unavailable", "RUN_MOVED"));
    const [outcome] = await at.core.ingest.writeAll(ADMIN, [envelope]);
    expect(outcome).toEqual({ ok: false, error: refused("unavailable", "RUN_MOVED") });
    expect(await at.core.ingest.write(ADMIN, envelope)).toMatchObject({ points: 1 });
  });

  it("U13 moving a run to its own namespace changes nothing and is not audited", async () => {
    const id = await makeRun(at, "a");
    const { position } = await bench.journal.changesSince(undefined, 1);
    expect(await move(ADMIN, id, "a")).toEqual({ id, from: "a", to: "a" });
    expect((await bench.journal.changesSince(undefined, 1)).position).toBe(position);
    expect(await moves()).toEqual([]);
  });

  it("A50 the audit has the old and the new namespace, and the caller", async () => {
    const id = await makeRun(at, "a");
    const ada = await userWith(at, "ada", ["maintainer", ""]);
    await move(ada, id, "b");
    const everything = { principal: "", action: "move-run", target: "", pageSize: 0, pageToken: "" };
    const { entries } = await at.access.listAudit(ADMIN, everything);
    expect(entries).toMatchObject([{ principal: "ada", target: id, facts: { from: "a", to: "b" } }]);
  });

  it("A50 no principal gets a stronger role by a move than the mover has", async () => {
    const ada = await userWith(at, "ada", ["maintainer", "a"], ["maintainer", "b"]);
    const boss = await userWith(at, "boss", ["admin", "b"]);
    const id = await makeRun(at, "a");
    const tooStrong = refused("forbidden", "ROLE_TOO_STRONG");
    await expect(move(ada, id, "b")).rejects.toEqual(tooStrong);
    // Also where it is a group, everyone, or a namespace above.
    await at.access.unbindRole(ADMIN, { principal: "boss", scope: on("b") });
    await at.group("lab", "boss");
    for (const [principal, scope] of [
      ["lab", on("b")],
      ["everyone", on("b/c")],
    ] as const) {
      await at.bind(principal, "admin", scope);
      await expect(move(ada, id, "b/c/d")).rejects.toEqual(tooStrong);
      await at.access.unbindRole(ADMIN, { principal, scope });
    }
    // Nor the mover itself, nor by a token that has less than its principal.
    await at.bind("ada", "admin", on("b"));
    await expect(move(ada, id, "b")).rejects.toEqual(tooStrong);
    await at.bind("ada", "admin", on("a"));
    const { secret } = await at.token("ada", { role: "maintainer" });
    await at.bind("boss", "admin", on("b"));
    await expect(move(here(at.access.identify(secret)), id, "b")).rejects.toEqual(tooStrong);
    expect(await placeOf(id)).toBe("a");
    await move(ada, id, "b");
    expect(boss.rights.may("administer", { namespace: "b", runId: id })).toBe(true);
  });

  it("A50 a principal that has the stronger role on the run already, or that it is closed to, does not count", async () => {
    const ada = await userWith(at, "ada", ["maintainer", "a"], ["maintainer", "b"]);
    const boss = await userWith(at, "boss", ["admin", "b"]);
    const [shared, closed, cut] = [await makeRun(at, "a"), await makeRun(at, "a"), await makeRun(at, "a")];
    await at.bind("boss", "admin", on("", shared));
    await move(ada, shared, "b");
    await at.close(on("", closed));
    await at.bind("ada", "maintainer", on("", closed));
    await move(ada, closed, "b");
    expect(boss.rights.may("read", { namespace: "b", runId: closed })).toBe(false);
    // The binding does not reach into the closed namespace.
    await at.close(on("b/closed"));
    await at.bind("ada", "maintainer", on("b/closed"));
    await move(ada, cut, "b/closed");
    expect(boss.rights.may("read", { namespace: "b/closed", runId: cut })).toBe(false);
  });

  it("A50 a run in a closed namespace can be moved by a caller that could share it", async () => {
    await at.close(on("secret"));
    const id = await makeRun(at, "secret");
    const eve = await userWith(at, "eve", ["viewer", "b"]);
    const ada = await userWith(at, "ada", ["maintainer", "b"]);
    await expect(move(ada, id, "b")).rejects.toEqual(refused("not-found"));
    await at.bind("ada", "writer", on("", id));
    await expect(move(ada, id, "b")).rejects.toEqual(refused("forbidden"));
    expect(eve.rights.may("read", { namespace: "secret", runId: id })).toBe(false);
    await at.bind("ada", "maintainer", on("", id));
    await move(ada, id, "b");
    expect(eve.rights.may("read", { namespace: "b", runId: id })).toBe(true);
  });

  it("A51 rights on the run and its artifacts apply in the new namespace, also in searches", async () => {
    const ada = await userWith(at, "ada", ["viewer", "b"]);
    const ben = await userWith(at, "ben");
    const [closed, plain] = [await makeRun(at, "a"), await makeRun(at, "a")];
    await at.bind("ben", "viewer", on("", closed));
    await at.close(on("", closed));
    await at.close(on("", plain, "model"));
    const seen = async (identity: Identity) => {
      const { runs } = await at.runs.search(as(identity, "read"), SEARCH);
      return runs.map(({ run }) => [run.id, run.namespace]);
    };
    expect([await seen(ada), await seen(ben)]).toEqual([[], [[closed, "a"]]]);
    for (const id of [closed, plain]) await move(ADMIN, id, "b");
    expect([await seen(ada), await seen(ben)]).toEqual([[[plain, "b"]], [[closed, "b"]]]);
    const of = (runId: string, artifact?: string) => ({
      namespace: "b",
      runId,
      ...(artifact && { artifact }),
    });
    expect(ada.rights.may("read", of(plain, "model"))).toBe(false);
    expect(ada.rights.may("read", of(plain, "other"))).toBe(true);
    expect(await at.access.getScope(ADMIN, on("b", closed))).toMatchObject({
      closed: true,
      bindings: [{ principal: "ben", scope: of(closed) }],
    });
    await at.access.setClosed(ADMIN, { scope: on("", closed), closed: false });
    expect(await seen(ada)).toHaveLength(2);
  });

  it("U14 counts, best runs, aliases, lineage and objectives follow", async () => {
    const objective = { metric: "loss", direction: "minimize" as const };
    for (const path of ["a", "b"]) await at.namespaces.create(ADMIN, { path, description: "", objective });
    const [id, child] = [await makeRun(at, "a", ["job"]), await makeRun(at, "a")];
    const log = (runId: string, loss: number) =>
      at.core.ingest.write(ADMIN, {
        run: { by: "id", id: runId },
        writer: "",
        seq: 0,
        series: [numbers("loss", [loss])],
        change: undefined,
        lost: [],
      });
    await log(id, 1);
    await at.core.lineage.addSource(ADMIN, { by: "id", id: child }, { by: "id", id, artifact: "" });
    const bestOf = async (path: string) => {
      const { runCount, best } = await at.namespaces.get(ADMIN, path, { withBest: true });
      return [runCount, best?.runId];
    };
    expect([await bestOf("a"), await bestOf("b")]).toEqual([
      [2, id],
      [0, undefined],
    ]);
    await move(ADMIN, id, "b");
    await log(id, 2);
    expect([await bestOf("a"), await bestOf("b")]).toEqual([
      [1, undefined],
      [1, id],
    ]);
    expect((await at.runs.get(ADMIN, { by: "alias", alias: "job", namespace: "b" })).id).toBe(id);
    const lineage = { run: { by: "id", id: child } as const, depth: 0, direction: "both" as const };
    const { nodes } = await at.core.lineage.get(ADMIN, lineage);
    expect(nodes).toContainEqual(expect.objectContaining({ namespace: "b" }));
  });

  it("U15, U20: rights to write and the capture policy of the new place apply at once", async () => {
    await at.namespaces.create(ADMIN, { path: "b", description: "", objective: undefined });
    await at.namespaces.update(ADMIN, { path: "b", forbidsConsole: true });
    const writer = await userWith(at, "writer", ["writer", "a"]);
    const id = await makeRun(at, "a");
    const write = (identity: Identity, text: string) =>
      at.core.ingest.write(as(identity, "write"), {
        run: { by: "id", id },
        writer: "",
        seq: 0,
        series: [],
        change: undefined,
        lost: [],
        log: [logLines([text])],
      });
    await write(writer, "before");
    await move(ADMIN, id, "b");
    await expect(write(writer, "shut out")).rejects.toEqual(refused("not-found"));
    expect(await write(ADMIN, "left out")).toMatchObject({ withheld: { lines: 1 } });
    const read = { run: { by: "id", id } as const, filter: EVERY_LINE, from: 0, limit: 0 };
    expect((await at.core.logs.read(ADMIN, read)).lines.map(({ text }) => text)).toEqual(["before"]);
  });
}
