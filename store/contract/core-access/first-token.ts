import { beforeEach, expect, it } from "vitest";
import type { Caller } from "#core/access/caller.ts";
import { limits } from "#lang/limits.ts";
import { ADMIN, as, DAY_US, here, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { NOW_US, refused, useStores, type OpenStores } from "../stores.ts";

const PASSWORD = "correct horse battery";
const BAD = refused("unauthenticated", "BAD_CREDENTIAL");
const UNBOUNDED = { principal: "", name: "", role: undefined, namespaces: [], days: 0 };

export function coreAccessFirstTokenContract(open: OpenStores): void {
  const bench = useStores(open);
  let under: AccessUnderTest;
  let secret: string;
  let first: Caller;
  beforeEach(async () => {
    under = await openAccess(bench.under);
    secret = (await under.access.bootstrap())!;
    first = as(here(under.access.identify(secret)), "administer");
  });
  const ada = { name: "ada", kind: "user" as const, displayName: "" };
  const expectEnded = async (...secrets: string[]) => {
    for (const one of [secret, ...secrets])
      await expect(async () => under.access.identify(one)).rejects.toThrow(BAD);
  };

  it("A34, A70: ends after a week, and then another start makes the next one", async () => {
    const { access, clock, audit } = under;
    expect(access.whoAmI(first).token).toMatchObject({ kind: "first", expiresUs: NOW_US + 7 * DAY_US });
    clock.us += 7 * DAY_US - 1;
    expect(await access.bootstrap()).toBeUndefined();
    clock.us += 1;
    await expectEnded();
    const again = (await access.bootstrap())!;
    expect(here(access.identify(again)).principal.name).toBe("admin");
    expect(access.listTokens(ADMIN, "admin")).toMatchObject([{ kind: "first" }]);
    expect(await audit()).toEqual(["bootstrap admin", "bootstrap admin"]);
  });

  it("A69 ends when it has made a token without bounds for an administrator, which has no parent", async () => {
    const { access, audit } = under;
    const session = await access.createSession(first);
    const narrow = await access.createToken(first, { ...UNBOUNDED, namespaces: ["a"], days: 90 });
    expect(narrow.token).toMatchObject({ parent: first.tokenId, expiresUs: NOW_US + 7 * DAY_US });
    const days = limits.passwordTokenDaysMax;
    await expect(access.createToken(first, { ...UNBOUNDED, days: days + 1 })).rejects.toEqual(
      refused("invalid"),
    );
    const better = await access.createToken(first, { ...UNBOUNDED, days });
    expect(better.token).toMatchObject({
      parent: undefined,
      kind: "token",
      expiresUs: NOW_US + days * DAY_US,
    });
    await expectEnded(narrow.secret);
    await expect(async () => access.identifySession(session)).rejects.toThrow(BAD);
    expect(here(access.identify(better.secret)).rights.may("administer", { namespace: "" })).toBe(true);
    expect(await access.bootstrap()).toBeUndefined();
    expect((await audit()).slice(-2)).toEqual([
      `create-token ${better.token.id}`,
      `revoke-token ${first.tokenId}`,
    ]);
  });

  it("A69 ends when it, or its session, has set the password of an administrator", async () => {
    const { access } = under;
    const session = await access.createSession(first);
    const page = as(here(access.identifySession(session)), "administer");
    await access.updatePrincipal(page, { name: "admin", displayName: "Admin" });
    await access.updatePrincipal(page, { name: "admin", password: PASSWORD });
    await expectEnded();
    await expect(async () => access.identifySession(session)).rejects.toThrow(BAD);
  });

  it("A69 ends when it has made someone an administrator who can log in", async () => {
    const { access, bind } = under;
    await access.createPrincipal(first, { ...ada, password: PASSWORD });
    await access.bindRole(first, { principal: "ada", role: "admin", scope: on("a") });
    await access.bindRole(first, { principal: "ada", role: "maintainer", scope: on("") });
    here(access.identify(secret));
    // Without a token or password of their own they would be locked out.
    await access.createPrincipal(first, { ...ada, name: "ben", password: "" });
    const child = await access.createToken(first, { ...UNBOUNDED, principal: "ben" });
    await access.bindRole(first, { principal: "ben", role: "admin", scope: on("") });
    here(access.identify(secret));
    await access.bindRole(first, { principal: "ada", role: "admin", scope: on("") });
    await expectEnded(child.secret);
    await bind("ada", "viewer", on(""));
  });

  it.each(["a member joins", "the group is bound"])(
    "A69 ends when a group gets an administrator: %s",
    async (how) => {
      const { access } = under;
      await access.createPrincipal(first, { ...ada, password: PASSWORD });
      await access.createPrincipal(first, { ...ada, name: "admins", kind: "group", password: "" });
      const bound = { principal: "admins", role: "admin" as const, scope: on("") };
      const joined = { group: "admins", member: "ada" };
      if (how === "a member joins") {
        await access.bindRole(first, bound);
        here(access.identify(secret));
        await access.addMember(first, joined);
      } else {
        await access.addMember(first, joined);
        here(access.identify(secret));
        await access.bindRole(first, bound);
      }
      await expectEnded();
    },
  );

  it("A69 stays valid while it makes tokens for others, and when others make changes", async () => {
    const { access } = under;
    await access.createPrincipal(first, { ...ada, password: "" });
    for (let i = 0; i < 3; i++) await access.createToken(first, { ...UNBOUNDED, principal: "ada" });
    await access.createToken(ADMIN, { ...UNBOUNDED, principal: "admin" });
    await access.updatePrincipal(ADMIN, { name: "admin", password: PASSWORD });
    here(access.identify(secret));
  });

  it("A70 is made for an existing administrator that cannot log in", async () => {
    const { access, group, clock } = under;
    await access.createPrincipal(ADMIN, { ...ada, password: "" });
    await group("admins", "ada");
    await access.bindRole(ADMIN, { principal: "admins", role: "admin", scope: on("") });
    await access.deletePrincipal(ADMIN, "admin");
    const { token } = await access.createToken(ADMIN, { ...UNBOUNDED, principal: "ada", days: 1 });
    expect(await access.bootstrap()).toBeUndefined();
    await access.revokeToken(ADMIN, token.id);
    await access.createToken(ADMIN, { ...UNBOUNDED, principal: "ada", role: "viewer" });
    const next = (await access.bootstrap())!;
    expect(here(access.identify(next)).principal.name).toBe("ada");
    await access.updatePrincipal(ADMIN, { name: "ada", password: PASSWORD });
    clock.us += 30 * DAY_US;
    expect(await access.bootstrap()).toBeUndefined();
  });
}
