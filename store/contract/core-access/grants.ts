import { beforeEach, expect, it } from "vitest";
import { OWNER } from "#core/access/caller.ts";
import { ADMIN, as, here, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { createRun, refused, useStores, type OpenStores } from "../stores.ts";

export function coreAccessGrantsContract(open: OpenStores): void {
  const bench = useStores(open);
  let under: AccessUnderTest;
  beforeEach(async () => {
    under = await openAccess(bench.under);
  });

  it("A9 a maintainer may bind up to maintainer in its namespace, and nowhere else", async () => {
    const { access, user, bind } = under;
    const mia = as(await user("mia"), "maintain");
    await user("ben");
    await bind("mia", "maintainer", on("a"));
    const binding = await access.bindRole(mia, { principal: "ben", role: "maintainer", scope: on("a/b") });
    expect(binding).toMatchObject({ principal: "ben", role: "maintainer", createdBy: "mia" });
    const give = (role: "viewer" | "admin", scope = on("a")) =>
      access.bindRole(mia, { principal: "ben", role, scope });
    await expect(give("admin")).rejects.toEqual(refused("forbidden", "ROLE_TOO_STRONG"));
    await expect(give("viewer", on(""))).rejects.toEqual(refused("forbidden", "NO_RIGHT"));
    await expect(give("viewer", on("ab"))).rejects.toEqual(refused("forbidden", "NO_RIGHT"));
    const [admin] = (await access.getScope(ADMIN, on("a"))).bindings;
    expect(admin).toMatchObject({ principal: "mia", role: "maintainer", createdBy: "owner" });
    await expect(access.getScope(mia, on(""))).rejects.toEqual(refused("forbidden"));
  });

  it("A9 a caller can neither weaken nor take away a role that is stronger than its own", async () => {
    const { access, user, bind } = under;
    const mia = as(await user("mia"), "maintain");
    await user("ana");
    await bind("mia", "maintainer", on("a"));
    await bind("ana", "admin", on("a"));
    const scope = on("a");
    const tooStrong = refused("forbidden", "ROLE_TOO_STRONG");
    await expect(access.bindRole(mia, { principal: "ana", role: "viewer", scope })).rejects.toEqual(
      tooStrong,
    );
    await expect(access.unbindRole(mia, { principal: "ana", scope })).rejects.toEqual(tooStrong);
    await access.unbindRole(mia, { principal: "mia", scope });
    const again = access.unbindRole(mia, { principal: "mia", scope });
    await expect(again).rejects.toEqual(refused("forbidden", "NO_RIGHT"));
  });

  it("A9 a token can give no more than it allows", async () => {
    const { access, user, bind, token } = under;
    await user("ana");
    await user("ben");
    await bind("ana", "admin", on(""));
    const few = await token("ana", { role: "maintainer", namespaces: ["a"] });
    const ana = as(here(access.identify(few.secret)), "maintain");
    await access.bindRole(ana, { principal: "ben", role: "maintainer", scope: on("a/b") });
    const stronger = access.bindRole(ana, { principal: "ben", role: "admin", scope: on("a/b") });
    await expect(stronger).rejects.toEqual(refused("forbidden", "ROLE_TOO_STRONG"));
    const elsewhere = access.bindRole(ana, { principal: "ben", role: "viewer", scope: on("c") });
    await expect(elsewhere).rejects.toEqual(refused("forbidden", "NO_RIGHT"));
    const server = access.createPrincipal(as(ana, "administer"), {
      name: "eve",
      kind: "user",
      displayName: "",
      password: "",
    });
    await expect(server).rejects.toEqual(refused("forbidden"));
    const children = { principal: "", name: "", role: undefined, namespaces: [], days: 0 };
    const child = await access.createToken(as(ana, "read"), children);
    expect(child.token).toMatchObject({ role: "maintainer", namespaces: ["a"] });
    const wider = access.createToken(as(ana, "read"), { ...children, namespaces: ["ab"] });
    await expect(wider).rejects.toEqual(refused("forbidden", "TOKEN_TOO_STRONG"));
    const higher = access.createToken(as(ana, "read"), { ...children, role: "admin" });
    await expect(higher).rejects.toEqual(refused("forbidden", "TOKEN_TOO_STRONG"));
  });

  it("A10 a caller that closes a scope keeps its role", async () => {
    const { access, user, bind, group } = under;
    const mia = await user("mia");
    const ben = await user("ben");
    await group("lab", "mia", "ben");
    await bind("lab", "maintainer", on("a"));
    await access.setClosed(as(mia, "maintain"), { scope: on("a/b"), closed: true });
    expect(mia.rights.may("maintain", { namespace: "a/b" })).toBe(true);
    expect(mia.rights.may("administer", { namespace: "a/b" })).toBe(false);
    expect(ben.rights.may("read", { namespace: "a/b/c" })).toBe(false);
    expect(ben.rights.may("maintain", { namespace: "a/bc" })).toBe(true);
    const shut = access.setClosed(as(ben, "maintain"), { scope: on("a/b"), closed: false });
    await expect(shut).rejects.toEqual(refused("forbidden"));
    expect(await access.getScope(as(mia, "maintain"), on("a/b"))).toMatchObject({
      closed: true,
      bindings: [{ principal: "mia", role: "maintainer" }],
    });
    await access.setClosed(as(mia, "maintain"), { scope: on("a/b"), closed: false });
    expect(ben.rights.may("maintain", { namespace: "a/b/c" })).toBe(true);
  });

  it("A10 adds no binding where none is needed: the owner, administrators of the root, bound principals", async () => {
    const { access, user, bind, close } = under;
    const ana = await user("ana");
    const mia = await user("mia");
    await bind("ana", "admin", on(""));
    await bind("mia", "maintainer", on("b"));
    await close(on("a"));
    await access.setClosed(as(ana, "maintain"), { scope: on("c"), closed: true });
    await access.setClosed(as(mia, "maintain"), { scope: on("b"), closed: true });
    for (const path of ["a", "c"]) expect((await access.getScope(ADMIN, on(path))).bindings).toEqual([]);
    expect((await access.getScope(ADMIN, on("b"))).bindings).toMatchObject([{ principal: "mia" }]);
    for (const path of ["a", "b", "c"]) expect(ana.rights.may("administer", { namespace: path })).toBe(true);
  });

  it("A6 closes a single run and a single artifact", async () => {
    const { access, user, bind, close } = under;
    const id = await createRun(bench.runs, { namespace: "a" });
    const ben = await user("ben");
    await bind("everyone", "viewer", on(""));
    const inRun = { namespace: "a", runId: id };
    await close(on("", id, "model"));
    expect(ben.rights.may("read", inRun)).toBe(true);
    expect(ben.rights.may("read", { ...inRun, artifact: "plot" })).toBe(true);
    expect(ben.rights.may("read", { ...inRun, artifact: "model" })).toBe(false);
    await close(on("a", id));
    expect(ben.rights.may("read", inRun)).toBe(false);
    expect(ben.rights.may("read", { namespace: "a" })).toBe(true);
    expect(ben.rights.readable()?.runs).toEqual(new Map([[id, false]]));
    const sees = under.runs.get(as(ben, "read"), { by: "id", id });
    await expect(sees).rejects.toEqual(refused("not-found"));
    await bind("ben", "writer", on("", id));
    expect(ben.rights.may("write", inRun)).toBe(true);
    expect(ben.rights.may("read", { ...inRun, artifact: "model" })).toBe(false);
    await bind("ben", "viewer", on("", id, "model"));
    expect(ben.rights.may("read", { ...inRun, artifact: "model" })).toBe(true);
    const binding = { principal: "ben", role: "viewer" as const };
    expect(await access.getScope(ADMIN, on("", id, "model"))).toMatchObject({
      scope: { ...inRun, artifact: "model" },
      bindings: [binding],
    });
  });

  it("A6 does not confuse a namespace with a run of the same name", async () => {
    const { user, bind, close } = under;
    const id = await createRun(bench.runs, { namespace: "a/b" });
    const mia = await user("mia");
    await bind("mia", "maintainer", on("a"));
    await close(on("", id));
    for (const trick of [`a/b#${id}`, `a/b#${id}#x`]) await bind("mia", "maintainer", on(trick));
    expect(mia.rights.may("read", { namespace: "a/b", runId: id })).toBe(false);
    expect(mia.rights.may("read", { namespace: "a/b", runId: id, artifact: "x" })).toBe(false);
  });

  it("treats a run that the caller may not see as missing", async () => {
    const { access, user, bind, close } = under;
    const hidden = await createRun(bench.runs, { namespace: "a" });
    const mia = as(await user("mia"), "maintain");
    await bind("mia", "maintainer", on("a"));
    await close(on("", hidden));
    const unknown = "f".repeat(32);
    for (const scope of [on("", hidden), on("", unknown), on("b", hidden)]) {
      const not = refused("not-found");
      await expect(access.getScope(mia, scope)).rejects.toEqual(not);
      await expect(access.bindRole(mia, { principal: "mia", role: "viewer", scope })).rejects.toEqual(not);
      await expect(access.explain(mia, { principal: "", scope })).rejects.toEqual(not);
    }
    await expect(access.getScope(ADMIN, on("b", hidden))).rejects.toEqual(refused("not-found"));
    await expect(access.getScope(ADMIN, on("a", "", "x"))).rejects.toEqual(refused("invalid"));
    await expect(access.getScope(ADMIN, on("a//b"))).rejects.toEqual(refused("invalid"));
  });

  it("A17 deletes bindings with their scope", async () => {
    const { access, user, bind, close, runs } = under;
    const id = await createRun(bench.runs, { namespace: "a/b" });
    const ben = await user("ben");
    await bind("ben", "writer", on("", id));
    await bind("ben", "writer", on("a/b"));
    await bind("ben", "viewer", on("a/bc"));
    await close(on("a/b"));
    const owner = as(OWNER, "maintain");
    await runs.delete(owner, { by: "id", id });
    await runs.purge(owner, { by: "id", id });
    expect(access.whoAmI(as(ben, "read")).bindings.map(({ scope }) => scope.namespace)).toEqual([
      "a/b",
      "a/bc",
    ]);
    for (const act of ["delete", "purge"] as const) await under.core.namespaceTrash[act](owner, "a/b");
    expect(ben.rights.may("read", { namespace: "a/b" })).toBe(false);
    await bind("everyone", "viewer", on("a"));
    expect(ben.rights.may("read", { namespace: "a/b" })).toBe(true);
    const again = await openAccess(bench.under);
    expect((await again.access.getScope(ADMIN, on("a/b"))).closed).toBe(false);
    expect((await again.access.getScope(ADMIN, on("a/bc"))).bindings).toHaveLength(1);
  });

  it("A19 explains in one sentence why a principal may, or may not", async () => {
    const { access, user, group, bind, close, token } = under;
    const id = await createRun(bench.runs, { namespace: "a/b" });
    const mia = await user("mia");
    await group("lab", "mia");
    const why = async (scope = on("a/b"), principal = "mia") =>
      (await access.explain(as(OWNER, "maintain"), { principal, scope })).summary;
    expect(await why()).toBe('"mia" may do nothing on namespace "a/b": no role is bound on it or around it');
    await bind("lab", "writer", on("a"));
    expect(await why()).toBe(
      '"mia" is writer of namespace "a/b": bound on namespace "a" through group "lab"',
    );
    await bind("everyone", "maintainer", on(""));
    expect(await why()).toBe('"mia" is maintainer of namespace "a/b": bound on the root for everyone');
    expect(await why(on("c"), "everyone")).toBe(
      '"everyone" is maintainer of namespace "c": bound on the root',
    );
    await close(on("a/b"));
    const cut = 'namespace "a/b" is closed, and nothing is bound on it or inside it';
    expect(await why(on("", id))).toBe(`"mia" may do nothing on run "${id}": ${cut}`);
    await bind("mia", "viewer", on("", id, "x"));
    expect(await why(on("", id, "x"))).toBe(
      `"mia" is viewer of artifact "x" of run "${id}": bound on artifact "x" of run "${id}"`,
    );
    const explained = await access.explain(as(OWNER, "maintain"), { principal: "mia", scope: on("a/b") });
    expect(explained.reasons).toMatchObject([
      { through: "everyone", counts: false, cutBy: { namespace: "a/b" } },
      { through: "lab", counts: false, cutBy: { namespace: "a/b" } },
    ]);
    await access.updatePrincipal(ADMIN, { name: "mia", disabled: true });
    expect(await why(on("c"))).toBe('"mia" may do nothing on namespace "c": it is disabled');
    await access.updatePrincipal(ADMIN, { name: "mia", disabled: false });
    const own = await token("mia", { role: "viewer" });
    const caller = as(here(access.identify(own.secret)), "read");
    const { role, summary } = await access.explain(caller, { principal: "", scope: on("c") });
    expect(role).toBe("viewer");
    expect(summary).toBe('"mia" is viewer of namespace "c" by this token');
    const owned = await access.explain(as(OWNER, "maintain"), { principal: "", scope: on("c") });
    expect(owned).toMatchObject({ role: "admin", reasons: [] });
    const others = access.explain(as(mia, "administer"), { principal: "lab", scope: on("c") });
    await expect(others).rejects.toEqual(refused("forbidden"));
    await expect(why(on("c"), "nobody")).rejects.toEqual(refused("not-found"));
  });
}
