import { beforeEach, expect, it } from "vitest";
import type { Identity } from "#core/access/caller.ts";
import { ADMIN, as, here, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { hostEnvelope, numbers, refused, appendOne, useStores, type OpenStores } from "../stores.ts";
import { withMethod } from "../with-method.ts";
import { makeRun, MAY_NOT_MOVE, refTo, SEARCH, userWith } from "./moving.ts";

/** Who may move a namespace, and what everybody gets to see of it afterwards. */
export function coreAccessNamespaceMovesContract(open: OpenStores): void {
  const bench = useStores(open);
  let at: AccessUnderTest;
  beforeEach(async () => {
    at = await openAccess(bench.under);
  });
  const create = (path: string) =>
    at.namespaces.create(ADMIN, { path, description: "", objective: undefined });
  const move = (identity: Identity, from: string, to: string) =>
    at.core.namespaceMoves.move(as(identity, "maintain"), from, to);
  const paths = async () => {
    const { namespaces } = await at.namespaces.list(as(ADMIN, "read"), {
      under: "",
      pageSize: 0,
      pageToken: "",
    });
    return namespaces.map(({ path }) => path);
  };
  const moves = async () => (await at.audit()).filter((entry) => entry.startsWith("move-namespace"));
  const seen = async (identity: Identity, namespace = "") =>
    (await at.runs.search(as(identity, "read"), { ...SEARCH, namespace })).runs.map(({ run }) => run.id);

  it("A57, N12, N23, N26, N28: who maintains both places moves a namespace, and no one else", async () => {
    await makeRun(at, "a/b");
    await create("b");
    for (const { name, roles, refusal } of MAY_NOT_MOVE) {
      const identity = await userWith(at, name, ...roles);
      await expect(move(identity, "a", "b/a")).rejects.toEqual(refusal);
    }
    // One that is hidden is answered as one that is not there, at either end.
    const [alone, blind] = ["alone", "blind"].map(async (name) =>
      here(at.access.identify((await at.token(name)).secret)),
    );
    const said = async (who: Promise<Identity>, from: string, to: string, hidden: string) =>
      move(await who, from, to).then(String, (thrown) => String(thrown).replaceAll(hidden, "NS"));
    await create("hidden/x");
    expect(await said(alone!, "a", "hidden/x", "hidden/x")).toBe(await said(alone!, "a", "none", "none"));
    expect(await said(blind!, "hidden", "b/x", "hidden")).toBe(await said(blind!, "none", "b/x", "none"));
    const ada = await userWith(at, "ada", ["maintainer", "a"], ["maintainer", "b"]);
    for (const wrong of ["", "/b", "b//c", "b/..", "a/b/c", "a/x"]) {
      await expect(move(ada, "a", wrong)).rejects.toEqual(refused("invalid"));
    }
    await expect(move(ada, "", "b/c")).rejects.toEqual(refused("invalid"));
    await create("b/taken");
    await expect(move(ada, "a", "b/taken")).rejects.toEqual(refused("exists"));
    expect([await paths(), await moves()]).toEqual([["a", "a/b", "b", "b/taken", "hidden", "hidden/x"], []]);
    const { id } = await at.namespaces.get(as(ada, "read"), "a");
    expect(await move(ada, "a", "b/new/a")).toEqual({ id, from: "a", to: "b/new/a" });
    expect(await paths()).toContain("b/new/a/b");
    const everything = { principal: "", action: "move-namespace", target: "", pageSize: 0, pageToken: "" };
    const { entries } = await at.access.listAudit(ADMIN, everything);
    expect(entries).toMatchObject([{ principal: "ada", target: "a", facts: { from: "a", to: "b/new/a" } }]);
  });

  it("N29 moving a namespace to where it is changes nothing and is not written down", async () => {
    const { id } = await create("a");
    const { position } = await bench.journal.changesSince(undefined, 1);
    expect(await move(ADMIN, "a", "a")).toEqual({ id, from: "a", to: "a" });
    expect((await bench.journal.changesSince(undefined, 1)).position).toBe(position);
    expect(await moves()).toEqual([]);
    const ada = await userWith(at, "ada", ["writer", "a"]);
    await expect(move(ada, "a", "a")).rejects.toEqual(refused("forbidden", "NO_RIGHT"));
  });

  it("A57 what is closed inside must be maintained, too", async () => {
    const [id, other] = [await makeRun(at, "a/b"), await makeRun(at, "a")];
    const ada = await userWith(at, "ada", ["maintainer", ""]);
    for (const scope of [on("a/b"), on("", id), on("", other, "model"), on("a/empty")]) {
      await at.close(scope);
      const refusal = expect.objectContaining({
        code: "forbidden",
        message: 'cannot move namespace "a": you do not maintain everything in it',
      });
      await expect(move(ada, "a", "b")).rejects.toEqual(refusal);
      await at.access.setClosed(ADMIN, { scope, closed: false });
    }
    await at.close(on("a/b"));
    await at.bind("ada", "maintainer", on("a/b"));
    await move(ada, "a", "b");
    expect(await seen(ada, "b/b")).toEqual([id]);
  });

  it("A57 no principal gets a stronger role by a move than the mover has", async () => {
    const ada = await userWith(at, "ada", ["maintainer", "a"], ["maintainer", "b"]);
    const boss = await userWith(at, "boss", ["admin", "b"]);
    await makeRun(at, "a");
    const tooStrong = refused("forbidden", "ROLE_TOO_STRONG");
    await expect(move(ada, "a", "b/a")).rejects.toEqual(tooStrong);
    await at.access.unbindRole(ADMIN, { principal: "boss", scope: on("b") });
    await at.group("lab", "boss");
    for (const principal of ["lab", "everyone"]) {
      await at.bind(principal, "admin", on("b"));
      await expect(move(ada, "a", "b/c/d")).rejects.toEqual(tooStrong);
      await at.access.unbindRole(ADMIN, { principal, scope: on("b") });
    }
    // Nor by a token that has less than its principal.
    for (const path of ["a", "b"]) await at.bind("ada", "admin", on(path));
    await at.bind("boss", "admin", on("b"));
    const { secret } = await at.token("ada", { role: "maintainer" });
    await expect(move(here(at.access.identify(secret)), "a", "b/a")).rejects.toEqual(tooStrong);
    await move(ada, "a", "b/a");
    expect(boss.rights.may("administer", { namespace: "b/a" })).toBe(true);
    // Who is shut out, or has the role already, does not count.
    await create("x");
    await at.close(on("x"));
    const mia = await userWith(at, "mia", ["maintainer", "x"], ["maintainer", "b"]);
    await move(mia, "x", "b/x");
    expect(boss.rights.may("read", { namespace: "b/x" })).toBe(false);
    await at.access.unbindRole(ADMIN, { principal: "ada", scope: on("b") });
    await create("y");
    await at.bind("boss", "admin", on("y"));
    await at.bind("mia", "maintainer", on("y"));
    await move(mia, "y", "b/y");
  });

  it("A57 nothing may be bound or closed at the new path already", async () => {
    const ada = await userWith(at, "ada", ["maintainer", ""]);
    await create("a/x");
    await at.user("ben");
    await at.bind("ben", "viewer", on("b/x"));
    await expect(move(ada, "a", "b")).rejects.toEqual(refused("exists", "ACCESS_THERE"));
    await at.close(on("b/y"));
    await expect(move(ada, "a", "b/y")).rejects.toEqual(refused("forbidden", "NO_RIGHT"));
    await move(ada, "a", "b/z");
  });

  it("A57 the refusal to move to a place names nothing there that is hidden", async () => {
    const ada = await userWith(at, "ada", ["maintainer", "a"], ["maintainer", "b"]);
    await makeRun(at, "a");
    await makeRun(at, "b/x/secret");
    await at.close(on("b/x/secret"));
    for (const to of ["b", "b/x"]) {
      const said = await move(ada, "a", to).then(String, (thrown) => JSON.stringify(thrown) + String(thrown));
      expect(said).not.toContain("secret");
      await expect(move(ada, "a", to)).rejects.toEqual(refused("exists"));
    }
  });

  it("A57 a move to a path that is taken gives no role and closes nothing there, at any moment", async () => {
    const ada = await userWith(at, "ada", ["maintainer", "a"], ["maintainer", "b"]);
    await at.user("boss");
    await at.bind("boss", "admin", on("a"));
    await at.close(on("a/c"));
    await at.bind("ada", "maintainer", on("a/c"));
    await makeRun(at, "a/c");
    await makeRun(at, "b/x");
    let changes = 0;
    at.access.onChange(() => changes++);
    await expect(move(ada, "a", "b/x")).rejects.toEqual(refused("exists"));
    expect(changes).toBe(0);
  });

  it("A57 what forbids capturing is moved only by who administers it, and goes along", async () => {
    const [ana, mia] = [
      await userWith(at, "ana", ["admin", ""]),
      await userWith(at, "mia", ["maintainer", ""]),
    ];
    await makeRun(at, "a/b");
    await at.namespaces.update(as(ana, "maintain"), { path: "a/b", forbidsCode: true });
    await expect(move(mia, "a", "c")).rejects.toEqual(refused("forbidden", "NO_RIGHT"));
    await move(ana, "a", "c");
    expect(at.core.captures.forbiddenIn("c/b/x").code).toBe("c/b");
    expect(at.core.captures.forbiddenIn("a/b").code).toBeUndefined();
    // As with runs: what holds around the new place holds, what held around the old one does not.
    await at.namespaces.update(as(ana, "maintain"), { path: "c", forbidsConsole: true });
    await create("c/free");
    await move(mia, "c/free", "free");
    expect(at.core.captures.forbiddenIn("free").console).toBeUndefined();
    await move(mia, "free", "c/free");
    expect(at.core.captures.forbiddenIn("c/free").console).toBe("c");
  });

  it("A58 roles, closures and the limits of tokens go along", async () => {
    const id = await makeRun(at, "a/b");
    await at.close(on("a/b"));
    const [ada, ben] = [
      await userWith(at, "ada", ["writer", "a/b"]),
      await userWith(at, "ben", ["viewer", ""]),
    ];
    const limited = async (...namespaces: string[]) =>
      here(at.access.identify((await at.token("ada", { namespaces })).secret));
    const [own, elsewhere] = [await limited("a"), await limited("z")];
    await at.bind("ada", "viewer", on("z"));
    expect([await seen(ada), await seen(ben), await seen(own)]).toEqual([[id], [], [id]]);
    await move(ADMIN, "a", "z/a");
    expect([await seen(ada), await seen(ben), await seen(own)]).toEqual([[id], [], [id]]);
    expect(ada.rights.may("write", { namespace: "z/a/b" })).toBe(true);
    expect(own.rights.may("write", { namespace: "z/a/b" })).toBe(true);
    expect(own.rights.may("read", { namespace: "z" })).toBe(false);
    // It has no more than its principal: what that has around the new place does not reach into what is closed.
    expect(elsewhere.rights.may("write", { namespace: "z/a/b" })).toBe(true);
    const tokens = at.access.listTokens(ADMIN, "ada").map(({ namespaces }) => namespaces);
    expect(new Set(tokens.map(String))).toEqual(new Set(["", "z/a", "z"]));
    // Nothing of it is left at the old path.
    for (const identity of [ada, own]) expect(identity.rights.may("read", { namespace: "a/b" })).toBe(false);
    const again = await makeRun(at, "a/b");
    expect([await seen(ben), await seen(ada)]).toEqual([[again], [id]]);
    expect(await at.access.getScope(ADMIN, on("a/b"))).toMatchObject({ closed: false, bindings: [] });
    expect(await at.access.getScope(ADMIN, on("z/a/b"))).toMatchObject({ closed: true });
  });

  it("A58 a refused move leaves nothing at the new path", async () => {
    await makeRun(at, "a/b");
    await create("taken");
    await at.close(on("a/b"));
    const ada = await userWith(at, "ada", ["writer", "a/b"]);
    await expect(move(ADMIN, "a", "taken")).rejects.toEqual(refused("exists"));
    expect(ada.rights.may("read", { namespace: "taken/b" })).toBe(false);
    expect(await at.access.getScope(ADMIN, on("taken/b"))).toMatchObject({ closed: false, bindings: [] });
  });

  it("A58 what is closed is closed at every moment of a move", async () => {
    const ids = [await makeRun(at, "secret/x"), await makeRun(at, "secret/x/y")];
    await at.close(on("secret/x"));
    const eve = await userWith(at, "eve", ["viewer", ""]);
    const caller = as(eve, "read");
    const moving = { now: true };
    const looks = async () => {
      let count = 0;
      for (; moving.now; count++) {
        expect(await seen(eve)).toEqual([]);
        for (const id of ids) {
          await expect(at.runs.get(caller, refTo(id))).rejects.toEqual(refused("not-found"));
          await expect(at.runs.whereIs(caller, refTo(id))).rejects.toEqual(refused("not-found"));
        }
      }
      return count;
    };
    const looking = [looks(), looks(), looks()];
    for (let i = 0; i < 20; i++) {
      await move(ADMIN, i % 2 === 0 ? "secret" : "open/there", i % 2 === 0 ? "open/there" : "secret");
    }
    moving.now = false;
    for (const count of await Promise.all(looking)) expect(count).toBeGreaterThan(0);
  });

  it("N14 what is forbidden is forbidden at the new path also where policies are loaded during the move", async () => {
    await create("a/b");
    await at.namespaces.update(as(ADMIN, "maintain"), { path: "a/b", forbidsCode: true });
    const { captures } = at.core;
    const { release } = captures.forbidAtBoth("a", "z");
    await captures.load();
    expect([captures.forbiddenIn("z/b").code, captures.forbiddenIn("a/b").code]).toEqual(["z/b", "a/b"]);
    await release();
    expect([captures.forbiddenIn("z/b").code, captures.forbiddenIn("a/b").code]).toEqual([undefined, "a/b"]);
  });

  it("N14 who writes while a namespace is moved loses nothing, and writes nothing to another run", async () => {
    const id = await makeRun(at, "a/b");
    const ada = await userWith(at, "ada", ["writer", "a/b"]);
    const token = here(at.access.identify((await at.token("ada", { namespaces: ["a"] })).secret));
    const write = (identity: Identity, writer: string, seq: number) =>
      at.core.ingest.write(as(identity, "write"), {
        run: refTo(id),
        writer,
        seq,
        series: [numbers(writer, [seq], seq)],
        change: undefined,
        lost: [],
      });
    const moving = { now: true };
    const writes = async (identity: Identity, writer: string) => {
      let seq = 0;
      while (moving.now) await write(identity, writer, ++seq);
      return seq;
    };
    const writing = [writes(ada, "one"), writes(token, "two")];
    for (let i = 0; i < 20; i++) await move(ADMIN, i % 2 === 0 ? "a" : "c/d", i % 2 === 0 ? "c/d" : "a");
    moving.now = false;
    const counts = await Promise.all(writing);
    const { writers } = await bench.runs.verifyRun(id);
    expect(writers.map(({ lastSeq, gaps }) => [lastSeq, gaps])).toEqual(counts.map((count) => [count, []]));
    expect(await paths()).toEqual(["a", "a/b", "c"]);
  });

  it("N13 searches, counts, hosts and objectives know the new path", async () => {
    const id = await makeRun(at, "a/b", ["job"]);
    await at.namespaces.update(as(ADMIN, "maintain"), {
      path: "a",
      objective: { metric: "loss", direction: "minimize" },
    });
    await appendOne(bench.journal, hostEnvelope({ namespace: "a/b", name: "n1" }, [numbers("cpu", [1])]));
    const reader = as(ADMIN, "read");
    expect((await at.runs.whereIs(reader, refTo(id))).namespace).toBe("a/b");
    await move(ADMIN, "a", "z");
    expect((await at.runs.whereIs(reader, refTo(id))).namespace).toBe("z/b");
    expect([await seen(ADMIN, "z"), await seen(ADMIN, "a")]).toEqual([[id], []]);
    expect((await at.runs.get(reader, { by: "alias", alias: "job", namespace: "z" })).id).toBe(id);
    await expect(at.runs.get(reader, { by: "path", namespace: "a/b", id })).rejects.toEqual(
      refused("not-found"),
    );
    expect(await at.namespaces.get(reader, "z")).toMatchObject({ subtreeRunCount: 1 });
    await expect(at.namespaces.get(reader, "a")).rejects.toEqual(refused("not-found"));
    const held = await at.core.objectives.list(reader, ["z/b", "a/b"]);
    expect([...held]).toMatchObject([["z/b", { namespace: "z", metric: "loss" }]]);
    const { hosts } = await at.core.metrics.listHosts(reader, { under: "z", pageSize: 0, pageToken: "" });
    expect(hosts).toMatchObject([{ namespace: "z/b", name: "n1" }]);
  });

  it("A42 A57 many held rights are looked for in a few reads when their namespace is moved", async () => {
    const { runs } = bench;
    let reads = 0;
    const getRuns: typeof runs.getRuns = (...asked) => (reads++, runs.getRuns(...asked));
    const findRuns: typeof runs.findRuns = (...asked) => (reads++, runs.findRuns(...asked));
    const counting = withMethod(withMethod(runs, "getRuns", getRuns), "findRuns", findRuns);
    const watched = await openAccess({ ...bench.under, runs: counting });
    const ids = await Promise.all(Array.from({ length: 50 }, () => makeRun(at, "a/b")));
    const rights = await Promise.all(
      ids.map((id) => watched.core.artifacts.hold(as(ADMIN, "read"), { run: refTo(id), name: "m" })),
    );
    reads = 0;
    await move(ADMIN, "a", "z");
    await watched.follower.catchUp();
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(5);
    for (const right of rights) right.release();
  });

  it("A42, A57: a download continues while its namespace is moved with the role of its reader, and ends elsewhere", async () => {
    const id = await makeRun(at, "a/b");
    const [ada, ben] = [
      await userWith(at, "ada", ["viewer", "a/b"]),
      await userWith(at, "ben", ["viewer", "c"]),
    ];
    await at.bind("ben", "viewer", on("", id));
    const artifacts = at.core.artifacts;
    await artifacts.uploads.put(
      as(ADMIN, "write"),
      refTo(id),
      { name: "m", step: undefined, kind: "file", mediaType: "", metadata: new Map() },
      (async function* () {
        yield Buffer.from("content");
      })(),
    );
    const rights = await Promise.all(
      [ada, ben].map((one) => artifacts.hold(as(one, "read"), { run: refTo(id), name: "m" })),
    );
    await move(ADMIN, "a", "z");
    await at.follower.catchUp();
    expect(rights.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    await at.access.unbindRole(ADMIN, { principal: "ada", scope: on("z/b") });
    await expect.poll(() => rights.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    for (const right of rights) right.release();
  });
}
