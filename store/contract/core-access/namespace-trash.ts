import { beforeEach, expect, it } from "vitest";
import type { Identity } from "#core/access/caller.ts";
import type { Role } from "#core/types/role.ts";
import { ADMIN, as, here, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { asked } from "../core-under-test.ts";
import {
  appendOne,
  envelope,
  hostEnvelope,
  numbers,
  refused,
  useStores,
  type OpenStores,
} from "../stores.ts";

const SEARCH = { query: "", namespace: "", pageSize: 0, pageToken: "", columns: [] };
const DAY_US = 86_400_000_000;
const ACTS = ["delete", "restore", "purge"] as const;

/** Who may put a namespace into the trash, take it out and destroy it, and what is left of it. */
export function coreAccessNamespaceTrashContract(open: OpenStores): void {
  const bench = useStores(open);
  let at: AccessUnderTest;
  beforeEach(async () => {
    at = await openAccess(bench.under);
  });
  const make = async (namespace: string) => (await at.runs.create(ADMIN, asked({ namespace }))).run.id;
  const act = (what: (typeof ACTS)[number], identity: Identity, path: string) =>
    at.core.namespaceTrash[what](as(identity, "maintain"), path);
  const userWith = async (name: string, ...roles: [Role, string][]) => {
    const identity = await at.user(name);
    for (const [role, namespace] of roles) await at.bind(name, role, on(namespace));
    return identity;
  };
  const found = async (identity: Identity, trashed: boolean, core = at) => {
    const { runs } = await core.runs.search(as(identity, "read"), { ...SEARCH, trashed });
    return runs.map(({ run }) => run.id).toSorted();
  };
  const listed = async (identity: Identity, trashed: boolean) => {
    const page = { under: "", pageSize: 0, pageToken: "", trashed };
    return (await at.namespaces.list(as(identity, "read"), page)).namespaces.map(
      ({ path, subtreeRunCount }) => `${path} ${subtreeRunCount}`,
    );
  };

  it("A59 who maintains a namespace and all that is closed in it moves it to the trash, restores and purges it", async () => {
    const id = await make("a/b");
    const [ada, ben] = [await userWith("ada", ["maintainer", "a"]), await userWith("ben", ["writer", "a"])];
    const eve = await userWith("eve", ["maintainer", "z"]);
    for (const what of ACTS) {
      await expect(act(what, ben, "a")).rejects.toEqual(refused("forbidden", "NO_RIGHT"));
      await expect(act(what, eve, "a")).rejects.toEqual(refused("not-found"));
    }
    for (const scope of [on("a/b"), on("", id), on("", id, "model")]) {
      await at.close(scope);
      for (const what of ACTS) {
        await expect(act(what, ada, "a")).rejects.toEqual(
          expect.objectContaining({
            code: "forbidden",
            message: `cannot ${what} namespace "a": you do not maintain everything in it`,
          }),
        );
      }
      await at.access.setClosed(ADMIN, { scope, closed: false });
    }
    for (const what of ["delete", "restore", "delete", "purge"] as const) await act(what, ada, "a");
    expect((await at.audit()).slice(-6)).toEqual([
      "delete-namespace a",
      "restore-namespace a",
      "delete-namespace a",
      `purge-run ${id}`,
      "purge-namespace a/b",
      "purge-namespace a",
    ]);
  });

  it("A59 which namespace above is in the trash only those learn who may see it", async () => {
    await make("a/b/c");
    const ada = await userWith("ada", ["maintainer", "a/b"]);
    await act("delete", ADMIN, "a");
    await expect(act("restore", ada, "a/b")).rejects.toEqual(
      expect.objectContaining({
        reason: "NAMESPACE_DELETED",
        message: 'cannot change namespace "a/b": a namespace above it is in the trash',
        facts: {},
      }),
    );
    expect((await at.namespaces.get(as(ada, "read"), "a")).deletedUs).toBeUndefined();
    expect(await listed(ada, true)).toEqual(["a/b 0", "a/b/c 0"]);
    await at.bind("ada", "viewer", on("a"));
    expect(await listed(ada, true)).toEqual(["a 0", "a/b 0", "a/b/c 0"]);
    await expect(act("restore", ada, "a/b")).rejects.toEqual(
      refused("precondition", "NAMESPACE_DELETED", { facts: { namespace: "a" } }),
    );
  });

  it("N16 its runs are searched, counted and listed in the trash only, at every core", async () => {
    const there = await openAccess(bench.under);
    const [id, own, beside] = [await make("a/b"), await make("a"), await make("c")];
    await at.runs.delete(ADMIN, { by: "id", id: own });
    const ada = await userWith("ada", ["viewer", "a"]);
    await act("delete", ADMIN, "a");
    for (const core of [at, there]) {
      expect([await found(ADMIN, false, core), await found(ADMIN, true, core)]).toEqual([
        [beside],
        [id, own].toSorted(),
      ]);
    }
    expect([await found(ada, false), await found(ada, true)]).toEqual([[], [id, own].toSorted()]);
    expect([await listed(ADMIN, false), await listed(ADMIN, true)]).toEqual([["c 1"], ["a 0", "a/b 0"]]);
    expect([await listed(ada, false), await listed(ada, true)]).toEqual([[], ["a 0", "a/b 0"]]);
    expect((await at.namespaces.get(as(ada, "read"), "a/b")).deletedUs).toBeDefined();
    expect((await at.runs.get(as(ada, "read"), { by: "id", id })).deletedUs).toBeDefined();
    await act("restore", ADMIN, "a");
    expect([await found(ada, false), await found(ada, true)]).toEqual([[id], [own]]);
    expect(await listed(ADMIN, false)).toEqual(["a 1", "a/b 1", "c 1"]);
  });

  it("N18, N31, A17: destroys everything in it, with what was bound and closed there, and continues where it was ended", async () => {
    const ids = [await make("a/b"), await make("a/b"), await make("a")];
    for (const id of ids) {
      await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1, 2])] }));
    }
    for (const name of ["n1", "n2"]) {
      await appendOne(bench.journal, hostEnvelope({ namespace: "a/b", name }, [numbers("cpu", [1])]));
    }
    const other = await make("ab");
    await at.user("ada");
    for (const scope of [on("a/b"), on("", ids[0]), on("ab")]) await at.bind("ada", "viewer", scope);
    await act("delete", ADMIN, "a");
    // As one that was ended after the first run, and another one at the same time.
    await at.runs.purge(as(ADMIN, "maintain"), { by: "id", id: ids[0]! });
    const parts = await Promise.all([
      act("purge", ADMIN, "a"),
      act("purge", ADMIN, "a").catch(() => undefined),
    ]);
    expect(parts[0]).toMatchObject({ done: true });
    const sum = (key: "runs" | "hosts" | "namespaces") =>
      parts.reduce((total, part) => total + (part?.[key] ?? 0), 0);
    expect([sum("runs"), sum("namespaces")]).toEqual([2, 2]);
    expect([await listed(ADMIN, false), await listed(ADMIN, true)]).toEqual([["ab 1"], []]);
    expect([await found(ADMIN, false), await found(ADMIN, true)]).toEqual([[other], []]);
    const { bindings } = await bench.under.access.loadAccess();
    expect(bindings.map(({ scope }) => scope)).toEqual([{ namespace: "ab" }]);
    const hosts = { under: "", after: undefined, limit: 9, bytesMax: Infinity };
    for (const trashed of [false, true]) {
      expect((await bench.points.listHosts({ ...hosts, trashed })).rows).toEqual([]);
    }
    await expect(act("purge", ADMIN, "a")).rejects.toEqual(refused("not-found"));
    // The path is free.
    const again = await make("a/b");
    expect(await found(ADMIN, false)).toEqual([other, again].toSorted());
    expect(await bench.under.access.verifyAudit()).toMatchObject({ problems: [] });
  });

  it("N30 destroys each run, host and namespace with its audit entry, and children before their parents", async () => {
    const id = await make("a/b");
    const host = { namespace: "a/b", name: "n1" };
    await appendOne(bench.journal, hostEnvelope(host, [numbers("cpu", [1])]));
    await act("delete", ADMIN, "a");
    await act("purge", ADMIN, "a");
    expect((await at.audit()).slice(-4)).toEqual([
      `purge-run ${id}`,
      "delete-series n1",
      "purge-namespace a/b",
      "purge-namespace a",
    ]);
  });

  it("N31, N32: a large one is destroyed in several calls", async () => {
    const made = Array.from({ length: 501 }, () => make("a"));
    await Promise.all(made);
    await act("delete", ADMIN, "a");
    expect(await act("purge", ADMIN, "a")).toMatchObject({ runs: 500, namespaces: 0, done: false });
    await act("restore", ADMIN, "a");
    await expect(act("purge", ADMIN, "a")).rejects.toEqual(refused("precondition", "NOT_IN_TRASH"));
    expect(await listed(ADMIN, false)).toEqual(["a 1"]);
    await act("delete", ADMIN, "a");
    expect(await act("purge", ADMIN, "a")).toMatchObject({ runs: 1, namespaces: 1, done: true });
  });

  it("N31, A59: one call takes bounded time, and ends with the right to it", async () => {
    await Promise.all(Array.from({ length: 110 }, () => make("a/b")));
    await userWith("ada", ["maintainer", "a"]);
    const ada = here(at.access.identify((await at.token("ada", { days: 1 })).secret));
    await act("delete", ada, "a");
    at.clock.nowUs = () => (at.clock.us += 1_000_000);
    expect(await act("purge", ada, "a")).toMatchObject({ runs: 50, namespaces: 0, done: false });
    // Her token ends while the next runs are destroyed.
    let left = 45;
    at.clock.nowUs = () => at.clock.us + (left-- > 0 ? 0 : 2 * DAY_US);
    await expect(act("purge", ada, "a")).rejects.toEqual(refused("unauthenticated"));
    expect(await act("purge", ADMIN, "a")).toMatchObject({ runs: 10, namespaces: 2, done: true });
  });
}
