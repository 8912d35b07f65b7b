import { beforeEach, expect, it } from "vitest";
import type { Caller } from "#core/access/caller.ts";
import type { CreatedToken, NewToken } from "#core/access/views.ts";
import { limits } from "#lang/limits.ts";
import {
  ADMIN,
  as,
  DAY_US,
  here,
  on,
  openAccess,
  VISITOR,
  type AccessUnderTest,
} from "../access-under-test.ts";
import { NOW_US, refused, useStores, type OpenStores } from "../stores.ts";

const PASSWORD = "correct horse battery";
const OTHER = "another sentence";
const BAD = refused("unauthenticated", "BAD_CREDENTIAL");
const ENDED = refused("unauthenticated", "CREDENTIAL_ENDED");
const NEEDED = refused("precondition", "PASSWORD_NEEDED");
const FULL = refused("exhausted", "LIMIT_EXCEEDED");

export function coreAccessFamiliesContract(open: OpenStores, restores: boolean): void {
  const bench = useStores(open);
  let under: AccessUnderTest;
  beforeEach(async () => {
    under = await openAccess(bench.under);
    await under.bind("everyone", "viewer", on(""));
  });
  const holder = ({ secret }: CreatedToken): Caller => as(here(under.access.identify(secret)), "read");
  const make = (caller: Caller, asked: Partial<NewToken> = {}): Promise<CreatedToken> =>
    under.access.createToken(caller, {
      principal: "",
      name: "",
      role: undefined,
      namespaces: [],
      days: 0,
      ...asked,
    });
  const logIn = (name = "ada", password = PASSWORD) => under.access.logIn(VISITOR, { name, password });
  const works = ({ secret }: CreatedToken): boolean => {
    try {
      return here(under.access.identify(secret)).rights.mayAnywhere("read");
    } catch (thrown) {
      expect(thrown).toEqual(BAD);
      return false;
    }
  };
  const factsOf = async (action: string) => {
    const everything = { principal: "", target: "", pageSize: 0, pageToken: "" };
    return (await under.access.listAudit(ADMIN, { ...everything, action })).entries.map(({ facts }) => facts);
  };

  it("A32, A61: limits a token to the expiry, the role and the namespaces of the one it is made with", async () => {
    const { user, token, clock } = under;
    await user("ben");
    const parent = await token("ben", { days: 1, role: "writer", namespaces: ["a"] });
    clock.us += DAY_US / 2;
    const child = await make(holder(parent), { days: 30 });
    expect(child.token).toMatchObject({
      parent: parent.token.id,
      kind: "token",
      expiresUs: NOW_US + DAY_US,
      role: "writer",
      namespaces: ["a"],
    });
    const grandchild = await make(holder(child), { role: "viewer", days: 0 });
    expect(grandchild.token).toMatchObject({ parent: child.token.id, expiresUs: NOW_US + DAY_US });
    const strong = refused("forbidden", "TOKEN_TOO_STRONG");
    await expect(make(holder(child), { role: "maintainer" })).rejects.toEqual(strong);
    await expect(make(holder(grandchild), { role: "writer" })).rejects.toEqual(strong);
    expect(await factsOf("create-token")).toMatchObject([
      { parent: child.token.id },
      { parent: parent.token.id },
      { parent: "none" },
      { parent: "none" },
    ]);
    clock.us = NOW_US + DAY_US;
    for (const one of [parent, child, grandchild]) expect(works(one)).toBe(false);
  });

  it.each(["revoked", "logged out of"])(
    "A60 ends all descendants of a token that is %s, at once",
    async (how) => {
      const { access, user, token } = under;
      await user("ben");
      const parent = await token("ben");
      const child = await make(holder(parent));
      const grandchild = await make(holder(child), { role: "viewer" });
      const session = await access.createSession(holder(child));
      const unrelated = await token("ben");
      const { rights } = here(access.identify(grandchild.secret));
      let notified = 0;
      access.onChange(() => notified++);
      if (how === "revoked") await access.revokeToken(ADMIN, parent.token.id);
      else await access.logOut({ ...holder(parent), permission: "public" });
      expect(notified).toBe(1);
      expect(() => rights.mayAnywhere("read")).toThrow(ENDED);
      expect([parent, child, grandchild].map(works)).toEqual([false, false, false]);
      await expect(async () => access.identifySession(session)).rejects.toThrow(BAD);
      expect(works(unrelated)).toBe(true);
      const [facts] = await factsOf(how === "revoked" ? "revoke-token" : "log-out");
      expect(facts).toMatchObject({ token: parent.token.id, ended_count: "3" });
      expect(facts!["ended"]!.split(" ").toSorted()).toEqual(
        [child, grandchild, session].map((one) => one.token.id).toSorted(),
      );
      const again = await openAccess(bench.under);
      await expect(async () => again.access.identify(child.secret)).rejects.toThrow(BAD);
    },
  );

  it("S29, A60: ends what an administrator's token has made for others when that token or its principal ends", async () => {
    const { access, user, token, bind } = under;
    for (const name of ["ana", "ben", "ci"]) await user(name);
    await bind("ana", "admin", on(""));
    const admin = await token("ana");
    const forCi = await make(holder(admin), { principal: "ci", role: "writer" });
    expect(forCi.token).toMatchObject({ principal: "ci", parent: admin.token.id });
    await access.revokeToken(holder(admin), forCi.token.id);
    const again = await make(holder(admin), { principal: "ci" });
    await bind("ben", "admin", on(""));
    await access.deletePrincipal(ADMIN, "ana");
    expect(works(again)).toBe(false);
  });

  it.each(["disabled", "demoted"])(
    "S29, A62: a token that an administrator made for another does not work while its maker is %s",
    async (how) => {
      const { access, user, token, bind } = under;
      await user("mal", PASSWORD);
      await user("ben");
      for (const name of ["mal", "ben"]) await bind(name, "admin", on(""));
      const made = await make(holder(await token("mal")), { principal: "ben" });
      const below = await make(holder(made), { role: "viewer" });
      const byPassword = await make(holder(await logIn("mal")), { principal: "ben", password: PASSWORD });
      const own = await token("ben");
      const stream = holder(made);
      const all = [made, below, byPassword, own];
      if (how === "disabled") await access.updatePrincipal(ADMIN, { name: "mal", disabled: true });
      else await bind("mal", "maintainer", on(""));
      expect(all.map(works)).toEqual([false, false, false, true]);
      expect(() => stream.rights.mayAnywhere("read")).toThrow(ENDED);
      if (how === "disabled") await access.updatePrincipal(ADMIN, { name: "mal", disabled: false });
      else await bind("mal", "admin", on(""));
      expect(all.map(works)).toEqual([true, true, true, true]);
    },
  );

  it("S29, A67: a change of password spares only the token of the call, not what it was made with nor what it made", async () => {
    const { access, user } = under;
    await user("bob", PASSWORD);
    const root = await make(holder(await logIn("bob")), { password: PASSWORD });
    const stolen = await make(holder(root));
    const session = await access.createSession(holder(root));
    const page = as(here(access.identifySession(session)), "public");
    await access.changePassword(page, { oldPassword: PASSWORD, newPassword: OTHER });
    expect([root, stolen].map(works)).toEqual([false, false]);
    expect(access.whoAmI(page).token).toMatchObject({ kind: "session", parent: undefined });
    here(access.identifySession(session));
    await access.updatePrincipal(ADMIN, { name: "bob", password: PASSWORD });
    await expect(async () => access.identifySession(session)).rejects.toThrow(BAD);
  });

  it("S29, A65: a login or a session sets a password only with the caller's own", async () => {
    const { access, user, token, bind } = under;
    await user("ada", PASSWORD);
    await bind("ada", "admin", on(""));
    const caller = as(here(access.identify((await logIn()).secret)), "administer");
    const mal = { name: "mal", kind: "user" as const, displayName: "", password: OTHER };
    await expect(access.updatePrincipal(caller, { name: "ada", password: OTHER })).rejects.toEqual(NEEDED);
    await expect(access.createPrincipal(caller, mal)).rejects.toEqual(NEEDED);
    const wrong = access.createPrincipal(caller, { ...mal, yourPassword: OTHER });
    await expect(wrong).rejects.toEqual(refused("forbidden", "BAD_PASSWORD"));
    await access.createPrincipal(caller, { ...mal, yourPassword: PASSWORD });
    await expect(access.updatePrincipal(caller, { name: "mal", password: "" })).rejects.toEqual(NEEDED);
    await access.updatePrincipal(caller, { name: "mal", disabled: true });
    const byToken = as(here(access.identify((await token("ada")).secret)), "administer");
    await access.updatePrincipal(byToken, { name: "mal", password: PASSWORD });
  });

  it("A33, A66: makes a token with a login or a session only when the password is given again", async () => {
    const { access, user } = under;
    await user("ada", PASSWORD);
    const login = await logIn();
    const session = await access.logInSession(VISITOR, { name: "ada", password: PASSWORD });
    const callers = [holder(login), as(here(access.identifySession(session)), "read")];
    for (const caller of callers) {
      await expect(make(caller)).rejects.toEqual(NEEDED);
      await expect(make(caller, { password: "wrong" })).rejects.toEqual(refused("forbidden", "BAD_PASSWORD"));
      const made = await make(caller, { password: PASSWORD, days: 366 });
      expect(made.token).toMatchObject({
        kind: "token",
        parent: undefined,
        expiresUs: NOW_US + limits.passwordTokenDaysMax * DAY_US,
      });
      await expect(make(caller, { password: PASSWORD, days: 367 })).rejects.toEqual(refused("invalid"));
    }
    expect((await factsOf("create-token")).slice(0, 2)).toMatchObject([
      { parent: "password" },
      { parent: "password" },
    ]);
    // Bounds of the token of the call do not apply to tokens made with the password.
    const narrow = await make(callers[0]!, { password: PASSWORD, role: "viewer" });
    await access.logOut({ ...holder(login), permission: "public" });
    expect(works(narrow)).toBe(true);
    const wide = await make(holder(narrow), { password: PASSWORD });
    expect(wide.token).toMatchObject({ role: undefined, parent: undefined });
    const child = await access.createSession(holder(narrow));
    expect(child.token).toMatchObject({
      role: "viewer",
      parent: narrow.token.id,
      expiresUs: NOW_US + DAY_US,
    });
    await expect(make(as(here(access.identifySession(child)), "read"))).rejects.toEqual(NEEDED);
  });

  it("S29, A67, A68: a change of password ends what the old one has made, except the token of the call", async () => {
    const { access, user, token, bind } = under;
    await user("ada", PASSWORD);
    await user("ci");
    await bind("ada", "admin", on(""));
    const login = await logIn();
    const other = await logIn();
    const session = await access.logInSession(VISITOR, { name: "ada", password: PASSWORD });
    const made = await make(holder(login), { password: PASSWORD });
    const child = await make(holder(made), { role: "viewer" });
    const forCi = await make(holder(login), { principal: "ci", password: PASSWORD });
    const given = await token("ada");
    await access.changePassword(
      { ...holder(login), permission: "public" },
      { oldPassword: PASSWORD, newPassword: OTHER },
    );
    expect([login, given].map(works)).toEqual([true, true]);
    expect([other, made, child, forCi].map(works)).toEqual([false, false, false, false]);
    await expect(async () => access.identifySession(session)).rejects.toThrow(BAD);
    expect(await factsOf("change-password")).toMatchObject([{ password: "changed", ended_count: "5" }]);
    await expect(logIn("ada", PASSWORD)).rejects.toEqual(BAD);
    const fresh = await logIn("ada", OTHER);
    await access.updatePrincipal(ADMIN, { name: "ada", password: PASSWORD });
    expect([login, fresh, given].map(works)).toEqual([false, false, true]);
    const last = await logIn();
    await access.updatePrincipal(ADMIN, { name: "ada", password: "" });
    expect(works(last)).toBe(false);
  });

  it("A68 allows only a user with a password and a token without bounds to change it", async () => {
    const { access, user, token } = under;
    await user("ada", PASSWORD);
    await user("none");
    const change = { oldPassword: PASSWORD, newPassword: OTHER };
    const narrow = await token("ada", { role: "viewer" });
    await expect(access.changePassword(holder(narrow), change)).rejects.toEqual(
      refused("forbidden", "NO_RIGHT"),
    );
    const place = await token("ada", { namespaces: ["a"] });
    await expect(access.changePassword(holder(place), change)).rejects.toEqual(
      refused("forbidden", "NO_RIGHT"),
    );
    const without = refused("precondition", "NO_PASSWORD");
    await expect(access.changePassword(holder(await token("none")), change)).rejects.toEqual(without);
    await expect(access.changePassword(ADMIN, change)).rejects.toEqual(without);
    await expect(access.changePassword(VISITOR, change)).rejects.toEqual(without);
    const ada = holder(await token("ada"));
    const short = access.changePassword(ada, { ...change, newPassword: "short" });
    await expect(short).rejects.toEqual(refused("invalid"));
    await access.changePassword(ada, change);
  });

  it("A63, A64: a token with bounds uses up neither the tokens of its principal nor its logins, and ends no other", async () => {
    const { access, user, token } = under;
    await user("ada", PASSWORD);
    const leaked = await token("ada", { role: "viewer" });
    const children: CreatedToken[] = [];
    for (let i = 0; i < limits.boundedTokenFamilyMax; i++) {
      // Of its children, too.
      const parent = i % 2 === 0 ? leaked : children.at(-1)!;
      children.push(await make(holder(parent)));
    }
    await expect(make(holder(leaked))).rejects.toEqual(FULL);
    await expect(make(holder(children.at(-1)!))).rejects.toEqual(FULL);
    await expect(access.createSession(holder(leaked))).rejects.toEqual(FULL);
    const login = await logIn();
    const own = await make(holder(login), { password: PASSWORD });
    await expect(access.revokeToken(holder(leaked), own.token.id)).rejects.toEqual(refused("not-found"));
    await access.revokeToken(holder(leaked), children[0]!.token.id);
    // A session replaces other sessions.
    const first = await access.createSession(holder(leaked));
    under.clock.us += 60_000_000;
    const more = [];
    for (let i = 0; i < limits.boundedTokenFamilyMax; i++)
      more.push(await access.createSession(holder(leaked)));
    await expect(async () => access.identifySession(first)).rejects.toThrow(BAD);
    expect(here(access.identifySession(more.at(-1)!)).principal.name).toBe("ada");
    expect(access.listTokens(ADMIN, "ada").filter(({ parent }) => parent !== undefined)).toHaveLength(
      limits.boundedTokenFamilyMax,
    );
    expect(works(login) && works(own)).toBe(true);
  });

  it("A63 limits tokens made by tokens separately from those a principal makes", async () => {
    const { user, token } = under;
    await user("ada", PASSWORD);
    const parents = [await token("ada"), await token("ada")];
    const stored = (await bench.under.access.loadAccess()).tokens.find(
      ({ id }) => id === parents[0]!.token.id,
    )!;
    const half = limits.childTokensPerPrincipalMax / 2;
    const children = parents.flatMap(({ token: { id: parent } }, p) =>
      Array.from({ length: half }, (_, i) => ({ ...stored, id: `${p}-${i}`, hash: `${p}-${i}`, parent })),
    );
    await bench.under.access.changeAccess(
      children.map((one) => ({ do: "put-token" as const, token: one })),
      [],
    );
    await expect(make(holder(parents[0]!))).rejects.toEqual(FULL);
    expect(works(await make(holder(await logIn()), { password: PASSWORD }))).toBe(true);
    expect(works(await token("ada"))).toBe(true);
  });

  it("A36, A79, A80: does not accept the secret of a session as a token, nor without the key of its page", async () => {
    const { access, user, token } = under;
    await user("ada", PASSWORD);
    const made = await token("ada");
    const sessions = [
      await access.logInSession(VISITOR, { name: "ada", password: PASSWORD }),
      await access.createSession(holder(made)),
    ] as const;
    for (const { secret, pageKey, token: view } of sessions) {
      expect(view.kind).toBe("session");
      expect(here(access.identifySession({ secret, pageKey })).principal.name).toBe("ada");
      expect(here(access.identifySession({ secret, onlyReads: true })).principal.name).toBe("ada");
      await expect(async () => access.identify(secret)).rejects.toThrow(BAD);
      await expect(async () => access.identify(pageKey)).rejects.toThrow(BAD);
      for (const wrong of ["", "1", secret, made.secret]) {
        await expect(async () => access.identifySession({ secret, pageKey: wrong })).rejects.toThrow(BAD);
      }
    }
    const [one, two] = sessions;
    await expect(async () =>
      access.identifySession({ secret: one.secret, pageKey: two.pageKey }),
    ).rejects.toThrow(BAD);
    await expect(async () =>
      access.identifySession({ secret: made.secret, onlyReads: true }),
    ).rejects.toThrow(BAD);
    const kept = JSON.stringify(await bench.under.access.loadAccess());
    for (const { secret, pageKey } of sessions) {
      expect(kept).not.toContain(secret.slice(20));
      expect(kept).not.toContain(pageKey.slice(20));
    }
  });

  it.runIf(restores)(
    "A18, A60, A67: tokens that ended with a parent or a password stay ended after a restore",
    async () => {
      const { access, user, token, system } = under;
      await user("ada", PASSWORD);
      const parent = await token("ada");
      const child = await make(holder(await make(holder(parent))));
      const login = await logIn();
      const made = await make(holder(login), { password: PASSWORD });
      const below = await make(holder(made));
      const stays = await token("ada");
      const { name } = await system.createBackup(ADMIN, "one");
      under.clock.us += 1;
      await access.revokeToken(ADMIN, parent.token.id);
      await access.updatePrincipal(ADMIN, { name: "ada", password: OTHER });
      await system.restoreBackup(ADMIN, name);
      expect([parent, child, login, made, below].map(works)).toEqual([false, false, false, false, false]);
      expect(works(stays)).toBe(true);
    },
  );
}
