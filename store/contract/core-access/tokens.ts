import { beforeEach, expect, it } from "vitest";
import { ANONYMOUS, OWNER } from "#core/access/caller.ts";
import { limits } from "#lang/limits.ts";
import { ADMIN, as, DAY_US, here, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { NOW_US, refused, useStores, type OpenStores } from "../stores.ts";

const MINUTE_US = 60_000_000;
const BAD = refused("unauthenticated", "BAD_CREDENTIAL");
const ENDED = refused("unauthenticated", "CREDENTIAL_ENDED");

export function coreAccessTokensContract(open: OpenStores): void {
  const bench = useStores(open);
  let under: AccessUnderTest;
  beforeEach(async () => {
    under = await openAccess(bench.under);
  });
  const root = { namespace: "" };

  it("A13 identifies by the secret alone, also after a restart, and by nothing similar", async () => {
    const { access, user, token } = under;
    await user("ben");
    const { secret, token: view } = await token("ben", { name: "laptop" });
    expect(secret).toMatch(/^cairn_[\w-]{43}$/);
    expect(view).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      kind: "token",
      parent: undefined,
      principal: "ben",
      name: "laptop",
      role: undefined,
      namespaces: [],
      createdUs: NOW_US,
      expiresUs: NOW_US + 90 * DAY_US,
      lastUsedUs: undefined,
    });
    expect(here(access.identify(secret)).principal).toEqual({ kind: "user", name: "ben" });
    const flipped = secret.slice(0, -1) + (secret.endsWith("A") ? "B" : "A");
    for (const wrong of [
      "",
      "cairn_",
      flipped,
      secret.toUpperCase(),
      `${secret} `,
      secret.slice(6),
      view.id,
    ]) {
      await expect(async () => access.identify(wrong)).rejects.toThrow(
        expect.objectContaining({ code: "unauthenticated" }),
      );
    }
    const again = await openAccess(bench.under);
    expect(here(again.access.identify(secret)).principal.name).toBe("ben");
  });

  it("A7 A8 ends rights in use: revoked, expired, disabled, deleted, unbound", async () => {
    const { access, user, token, bind, clock } = under;
    const ben = await user("ben");
    await bind("ben", "writer", on("a"));
    const inA = { namespace: "a" };
    const rightsOf = async () => {
      const { secret, token: view } = await token("ben", { days: 1 });
      return { rights: here(access.identify(secret)).rights, secret, id: view.id };
    };
    const revoked = await rightsOf();
    expect(revoked.rights.may("write", inA)).toBe(true);
    await access.revokeToken(as(ben, "read"), revoked.id);
    const asks = [
      () => revoked.rights.may("read", inA),
      () => revoked.rights.mayAnywhere("read"),
      () => revoked.rights.readable(),
      () => here(access.identify(revoked.secret)),
    ];
    for (const ask of asks) expect(ask).toThrow(expect.objectContaining({ code: "unauthenticated" }));
    expect(() => revoked.rights.may("public", inA)).toThrow(
      expect.objectContaining({ reason: "CREDENTIAL_ENDED" }),
    );

    const expired = await rightsOf();
    clock.us += DAY_US - 1;
    expect(expired.rights.may("write", inA)).toBe(true);
    clock.us += 1;
    expect(() => expired.rights.may("write", inA)).toThrow(
      expect.objectContaining({ reason: "CREDENTIAL_ENDED" }),
    );
    await expect(async () => access.identify(expired.secret)).rejects.toThrow(
      expect.objectContaining({ reason: "BAD_CREDENTIAL" }),
    );

    await access.updatePrincipal(ADMIN, { name: "ben", disabled: true });
    expect(ben.rights.may("read", inA)).toBe(false);
    expect(ben.rights.mayAnywhere("read")).toBe(false);
    expect(ben.rights.readable()?.namespaces).toEqual(new Map([["", false]]));
    await expect(token("ben")).rejects.toEqual(refused("precondition"));
    await access.updatePrincipal(ADMIN, { name: "ben", disabled: false });
    expect(ben.rights.may("write", inA)).toBe(true);

    await access.unbindRole(as(OWNER, "maintain"), { principal: "ben", scope: on("a") });
    expect(ben.rights.may("read", inA)).toBe(false);
    await access.deletePrincipal(ADMIN, "ben");
    expect(() => ben.rights.may("read", inA)).toThrow(
      expect.objectContaining({ reason: "CREDENTIAL_ENDED" }),
    );
  });

  it("A8 follows groups and notifies subscribers", async () => {
    const { access, user, group, bind } = under;
    const ben = await user("ben");
    await group("lab");
    await bind("lab", "viewer", on("a"));
    let heard = 0;
    const stop = access.onChange(() => heard++);
    expect(ben.rights.may("read", { namespace: "a" })).toBe(false);
    await access.addMember(ADMIN, { group: "lab", member: "ben" });
    expect(heard).toBe(1);
    expect(ben.rights.may("read", { namespace: "a" })).toBe(true);
    await access.addMember(ADMIN, { group: "lab", member: "ben" });
    expect(heard).toBe(1);
    await access.updatePrincipal(ADMIN, { name: "lab", disabled: true });
    expect(ben.rights.may("read", { namespace: "a" })).toBe(false);
    await access.updatePrincipal(ADMIN, { name: "lab", disabled: false });
    await access.removeMember(ADMIN, { group: "lab", member: "ben" });
    expect(ben.rights.may("read", { namespace: "a" })).toBe(false);
    stop();
    await access.deletePrincipal(ADMIN, "lab");
    expect(heard).toBe(4);
  });

  it("A8 notifies subscribers when a token has expired", async () => {
    const { access, user, clock } = under;
    await user("ben");
    // Nearly expired; the clock of the test is stopped until then.
    clock.us += 90 * DAY_US - 2_000;
    const other = await openAccess(bench.under);
    const rung = new Promise<void>((resolve) => access.onChange(resolve));
    await other.access.updatePrincipal(ADMIN, { name: "ben", displayName: "Ben" });
    await under.follower.catchUp();
    await rung;
    const expired = new Promise<void>((resolve) => access.onChange(resolve));
    clock.us += 2_000;
    await expired;
  });

  it("A12 keeps the id of a mask as long as it is the same, and gives every other one its own", async () => {
    const { access, user, bind, token } = under;
    const ben = await user("ben");
    const eve = await user("eve");
    await bind("everyone", "viewer", on("a"));
    const first = ben.rights.readable()!;
    expect(ben.rights.readable()).toBe(first);
    expect(eve.rights.readable()).toBe(first);
    await bind("eve", "viewer", on("b"));
    expect(ben.rights.readable()).toBe(first);
    expect(eve.rights.readable()!.id).not.toBe(first.id);
    await access.setClosed(as(OWNER, "maintain"), { scope: on("a/b"), closed: true });
    const second = ben.rights.readable()!;
    expect(second.id).not.toBe(first.id);
    expect(second.namespaces).toEqual(
      new Map([
        ["", false],
        ["a", true],
        ["a/b", false],
      ]),
    );
    const narrow = here(
      access.identify((await token("ben", { namespaces: ["a/c"] })).secret),
    ).rights.readable()!;
    expect(narrow.id).not.toBe(second.id);
    expect(narrow.namespaces).toEqual(
      new Map([
        ["", false],
        ["a/c", true],
      ]),
    );
    await bind("ben", "admin", on(""));
    expect(ben.rights.readable()).toBeUndefined();
  });

  it("A7 lists and revokes one's own tokens, and others' only as administrator", async () => {
    const { access, user, token, bind } = under;
    const ben = as(await user("ben"), "read");
    const eve = as(await user("eve"), "read");
    await bind("everyone", "viewer", on(""));
    under.clock.us += 1;
    const { token: other } = await token("ben", { name: "other" });
    expect(access.listTokens(ben, "").map(({ name }) => name)).toEqual(["", "other"]);
    expect(JSON.stringify(access.listTokens(ben, ""))).not.toContain("hash");
    expect(() => access.listTokens(eve, "ben")).toThrow(expect.objectContaining({ code: "forbidden" }));
    await expect(access.revokeToken(eve, other.id)).rejects.toEqual(refused("not-found"));
    await expect(access.revokeToken(ben, "unknown")).rejects.toEqual(refused("not-found"));
    const forBen = { principal: "ben", name: "", role: undefined, namespaces: [], days: 0 };
    await expect(access.createToken(eve, forBen)).rejects.toEqual(refused("forbidden"));
    const narrow = await token("ben", { role: "viewer" });
    const little = as(here(access.identify(narrow.secret)), "read");
    await expect(access.revokeToken(little, other.id)).rejects.toEqual(refused("not-found"));
    await access.revokeToken(little, narrow.token.id);
    await access.revokeToken(ADMIN, other.id);
    await bind("eve", "admin", on(""));
    expect(access.listTokens(eve, "ben")).toHaveLength(1);
    expect(() => access.listTokens(ADMIN, "")).toThrow(expect.objectContaining({ code: "invalid" }));
    expect(() => access.listTokens(as(ANONYMOUS, "read"), "ben")).toThrow(
      expect.objectContaining({ code: "unauthenticated" }),
    );
  });

  it("A7 holds tokens to their limits", async () => {
    const { access, user, token, clock } = under;
    await user("ben");
    await under.group("lab");
    for (const days of [-1, 1.5, limits.tokenDaysMax + 1]) {
      await expect(token("ben", { days })).rejects.toEqual(refused("invalid"));
    }
    const { token: long } = await token("ben", { days: limits.tokenDaysMax });
    expect(long.expiresUs).toBe(NOW_US + limits.tokenDaysMax * DAY_US);
    await expect(token("lab")).rejects.toEqual(refused("precondition"));
    await expect(token("nobody")).rejects.toEqual(refused("not-found"));
    await expect(token("ben", { namespaces: ["a//b"] })).rejects.toEqual(refused("invalid"));
    const many = Array.from({ length: limits.tokenNamespacesMax + 1 }, (_, i) => `n${i}`);
    await expect(token("ben", { namespaces: many })).rejects.toEqual(refused("exhausted"));
    const room = limits.tokensPerPrincipalMax - access.listTokens(ADMIN, "ben").length;
    const day = { ...long, expiresUs: NOW_US + DAY_US, passwordOf: undefined, pageHash: undefined };
    const others = Array.from({ length: room }, (_, i) => ({ ...day, id: `t${i}`, hash: `h${i}` }));
    await bench.under.access.changeAccess(
      others.map((one) => ({ do: "put-token", token: one })),
      [],
    );
    await expect(token("ben")).rejects.toEqual(refused("exhausted", "LIMIT_EXCEEDED"));
    clock.us += DAY_US;
    await token("ben");
    expect(access.listTokens(ADMIN, "ben")).toHaveLength(3);
  });

  it("A13 stores the last use of a token to the minute, with a delay", async () => {
    const { access, user, token, clock } = under;
    await user("ben");
    const { secret, token: view } = await token("ben");
    const used = () => access.listTokens(ADMIN, "ben").find(({ id }) => id === view.id)!.lastUsedUs;
    expect(used()).toBeUndefined();
    clock.us = NOW_US + 5 * MINUTE_US + 30_000_000;
    here(access.identify(secret));
    expect(used()).toBe(NOW_US + 5 * MINUTE_US);
    const stored = async () =>
      (await bench.under.access.loadAccess()).tokens.find(({ id }) => id === view.id)!.lastUsedUs;
    expect(await stored()).toBeUndefined();
    await access.close();
    expect(await stored()).toBe(NOW_US + 5 * MINUTE_US);
  });

  it("says who the caller is and what it may", async () => {
    const { access, user, group, bind } = under;
    const ben = await user("ben");
    await group("lab", "ben");
    await group("other");
    await bind("ben", "viewer", on("a"));
    await bind("lab", "writer", on("b"));
    await bind("other", "writer", on("c"));
    await bind("everyone", "viewer", on("d"));
    const me = access.whoAmI(as(ben, "public"));
    expect(me).toMatchObject({
      principal: { name: "ben", kind: "user", groups: ["lab"], hasPassword: false, disabled: false },
      token: { principal: "ben" },
    });
    expect(me.bindings.map(({ scope }) => scope.namespace)).toEqual(["a", "b", "d"]);
    expect(access.whoAmI(as(OWNER, "public"))).toMatchObject({
      principal: { kind: "owner" },
      token: undefined,
    });
    expect(access.whoAmI(as(ANONYMOUS, "public"))).toMatchObject({ principal: { kind: "anonymous" } });
    await access.logOut(as(ben, "public"));
    expect(() => access.whoAmI(as(ben, "public"))).toThrow(ENDED);
    await expect(access.logOut(as(OWNER, "public"))).rejects.toEqual(refused("precondition", "NO_TOKEN"));
  });

  it("A11 creates the first administrator once, and never removes the last one", async () => {
    const { access, user, group, bind } = under;
    await user("admin");
    const secret = (await access.bootstrap())!;
    expect(await access.bootstrap()).toBeUndefined();
    const first = here(access.identify(secret));
    expect(first.principal.name).toBe("admin-2");
    expect(first.rights.may("administer", root)).toBe(true);
    const last = refused("precondition", "LAST_ADMIN");
    const scope = on("");
    const steps = [
      () => access.deletePrincipal(ADMIN, "admin-2"),
      () => access.updatePrincipal(ADMIN, { name: "admin-2", disabled: true }),
      () => access.unbindRole(ADMIN, { principal: "admin-2", scope }),
      () => access.bindRole(ADMIN, { principal: "admin-2", role: "maintainer", scope }),
    ];
    for (const step of steps) await expect(step()).rejects.toEqual(last);
    await user("ana");
    await group("admins", "ana");
    await bind("admins", "admin", on(""));
    await access.unbindRole(ADMIN, { principal: "admin-2", scope });
    await expect(access.removeMember(ADMIN, { group: "admins", member: "ana" })).rejects.toEqual(last);
    await expect(access.deletePrincipal(ADMIN, "ana")).rejects.toEqual(last);
    await expect(access.deletePrincipal(ADMIN, "admins")).rejects.toEqual(last);
    await bind("everyone", "admin", on(""));
    await access.deletePrincipal(ADMIN, "admins");
    const again = await openAccess(bench.under);
    expect(await again.access.bootstrap()).toBeUndefined();
    await expect(async () => again.access.identify("cairn_")).rejects.toThrow(BAD);
  });
}
