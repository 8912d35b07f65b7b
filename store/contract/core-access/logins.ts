import { beforeEach, expect, it } from "vitest";
import { ANONYMOUS, type Caller } from "#core/access/caller.ts";
import { limits } from "#lang/limits.ts";
import { ADMIN, as, here, on, openAccess, VISITOR, type AccessUnderTest } from "../access-under-test.ts";
import { NOW_US, refused, useStores, type OpenStores } from "../stores.ts";

const PASSWORD = "correct horse battery";
const BAD = refused("unauthenticated", "BAD_CREDENTIAL");
const LIMITED = refused("exhausted", "LOGIN_LIMIT");
const HOUR_US = 3_600_000_000;

export function coreAccessLoginsContract(open: OpenStores): void {
  const bench = useStores(open);
  let under: AccessUnderTest;
  beforeEach(async () => {
    under = await openAccess(bench.under);
  });
  const create = (name: string, kind: "user" | "service" | "group" = "user", password = "") =>
    under.access.createPrincipal(ADMIN, { name, kind, displayName: "", password });
  const at = (address: string): Caller => ({ ...as(ANONYMOUS, "public"), address });
  /** The reason of a refusal, or "in". */
  const outcome = (address: string, name: string, password: string): Promise<string> =>
    under.access.logIn(at(address), { name, password }).then(
      () => "in",
      ({ reason }: { reason: string }) => reason,
    );
  const count = (outcomes: readonly string[], wanted: string) =>
    outcomes.filter((one) => one === wanted).length;

  it("A14 exchanges a password for a token of twelve hours", async () => {
    const { access, bind } = under;
    await create("ada", "user", PASSWORD);
    await bind("ada", "writer", on("a"));
    const { secret, token } = await access.logIn(VISITOR, { name: "ada", password: PASSWORD });
    expect(token).toMatchObject({ principal: "ada", role: undefined, expiresUs: NOW_US + 12 * HOUR_US });
    const ada = here(access.identify(secret));
    expect(ada.rights.may("write", { namespace: "a" })).toBe(true);
    await access.logOut(as(ada, "public"));
    await expect(async () => access.identify(secret)).rejects.toThrow(
      expect.objectContaining({ reason: "BAD_CREDENTIAL" }),
    );
    await access.updatePrincipal(ADMIN, { name: "ada", password: "another sentence" });
    await expect(access.logIn(VISITOR, { name: "ada", password: PASSWORD })).rejects.toEqual(BAD);
    await access.logIn(VISITOR, { name: "ada", password: "another sentence" });
    const again = await openAccess(bench.under);
    await again.access.logIn(VISITOR, { name: "ada", password: "another sentence" });
  });

  it("A14 has the same answer for all failed logins", async () => {
    const { access } = under;
    await create("ada", "user", PASSWORD);
    await create("off", "user", PASSWORD);
    await access.updatePrincipal(ADMIN, { name: "off", disabled: true });
    await create("none");
    await create("ci", "service");
    const tries = [
      { name: "ada", password: "wrong" },
      { name: "ada", password: "" },
      { name: "ada", password: "x".repeat(10_000) },
      { name: "Ada", password: PASSWORD },
      { name: "off", password: PASSWORD },
      { name: "none", password: "" },
      { name: "ci", password: "" },
      { name: "everyone", password: "" },
      { name: "", password: "" },
      { name: "n".repeat(10_000), password: PASSWORD },
    ];
    const answers = await Promise.all(
      tries.map((request) => access.logIn(VISITOR, request).catch((thrown: Error) => thrown.message)),
    );
    expect(new Set(answers)).toEqual(new Set(["cannot log in: the name or the password is wrong"]));
  });

  it("A14 accepts only passwords of a minimum length, and only for users", async () => {
    for (const password of ["short", "x".repeat(limits.passwordCharactersMin - 1)]) {
      await expect(create("ada", "user", password)).rejects.toEqual(refused("invalid"));
    }
    const long = "x".repeat(limits.passwordBytesMax + 1);
    await expect(create("ada", "user", long)).rejects.toEqual(refused("exhausted"));
    for (const kind of ["service", "group"] as const) {
      await expect(create("x", kind, PASSWORD)).rejects.toEqual(refused("invalid"));
    }
    // Typed on another keyboard, as other code points.
    await create("ada", "user", "caf\u00e9 au lait");
    await under.access.logIn(VISITOR, { name: "ada", password: "cafe\u0301 au lait" });
  });

  it("A35, A77: limits attempts by name and address, also of names that are unknown, and right passwords do not count", async () => {
    const { access, clock } = under;
    await create("ada", "user", PASSWORD);
    await create("ben", "user", PASSWORD);
    for (let i = 0; i < 7; i++) await access.logIn(VISITOR, { name: "ada", password: PASSWORD });
    // A name that has signed in from there has more attempts.
    for (const { name, tries, retryAfterMs } of [
      { name: "ada", tries: 30, retryAfterMs: 6_000 },
      { name: "nobody", tries: 5, retryAfterMs: 10_000 },
    ]) {
      for (let i = 0; i < tries; i++)
        await expect(access.logIn(VISITOR, { name, password: "x" })).rejects.toEqual(BAD);
      const limited = refused("exhausted", "LOGIN_LIMIT", { retryAfterMs });
      await expect(access.logIn(VISITOR, { name, password: PASSWORD })).rejects.toEqual(limited);
    }
    await access.logIn(VISITOR, { name: "ben", password: PASSWORD });
    clock.us += 10_000_000;
    await access.logIn(VISITOR, { name: "ada", password: PASSWORD });
  });

  it("S29, A35, A71: made-up names do not use up the attempts of others", async () => {
    await create("ada", "user", PASSWORD);
    const refusals: string[] = [];
    for (let i = 0; i < 10_000; i++) {
      refusals.push(await outcome(`192.0.2.${i % 4}`, `made-up-${i}`, "x"));
    }
    expect(count(refusals, "BAD_CREDENTIAL")).toBe(4 * 30);
    expect(count(refusals, "LOGIN_LIMIT")).toBe(10_000 - 4 * 30);
    const right: string[] = [];
    for (let i = 0; i < 33; i++) right.push(await outcome(`198.51.100.${i}`, "ada", PASSWORD));
    expect(right).toEqual(Array<string>(33).fill("in"));
  });

  it("A72 treats one network of IPv6 as one address", async () => {
    const refusals: string[] = [];
    for (let i = 0; i < 40; i++)
      refusals.push(await outcome(`2001:db8::${i.toString(16)}`, `name-${i}`, "x"));
    expect(count(refusals, "BAD_CREDENTIAL")).toBe(30);
    expect(await outcome("2001:db8:0:1::1", "name", "x")).toBe("BAD_CREDENTIAL");
  });

  it("A35, A76, A77: bounds how often one name is guessed from all addresses; from a known one the right password is accepted", async () => {
    const { access, clock } = under;
    await create("ada", "user", PASSWORD);
    expect(await outcome("198.51.100.1", "ada", PASSWORD)).toBe("in");
    for (const name of ["ada", "nobody"]) {
      const guesses: string[] = [];
      for (let i = 0; i < 200; i++) guesses.push(await outcome(`10.0.${i}.1`, name, "x"));
      expect(count(guesses, "BAD_CREDENTIAL"), name).toBe(50);
      expect(count(guesses, "LOGIN_LIMIT"), name).toBe(150);
    }
    expect(await outcome("198.51.100.2", "ada", PASSWORD)).toBe("LOGIN_LIMIT");
    for (let i = 0; i < 33; i++) expect(await outcome("198.51.100.1", "ada", PASSWORD)).toBe("in");
    // A known address of one name does not count for another.
    await create("ben", "user", PASSWORD);
    for (let i = 0; i < 60; i++) await outcome(`10.1.${i}.1`, "ben", "x");
    expect(await outcome("198.51.100.1", "ben", PASSWORD)).toBe("LOGIN_LIMIT");
    // Nor does it allow further guesses.
    const guesses: string[] = [];
    for (let i = 0; i < 6; i++) guesses.push(await outcome("198.51.100.1", "ada", "x"));
    expect(await outcome("198.51.100.1", "ada", PASSWORD)).toBe("in");
    for (let i = 0; i < 40; i++) guesses.push(await outcome("198.51.100.1", "ada", "x"));
    expect(count(guesses, "BAD_CREDENTIAL")).toBe(30);
    clock.us += 10_000_000;
    await access.logIn(at("198.51.100.1"), { name: "ada", password: PASSWORD });
    expect(await outcome("198.51.100.2", "ada", PASSWORD)).toBe("in");
  });

  it("A35 counts a wrong password in CreateToken and ChangePassword as one at the login", async () => {
    const { access } = under;
    await create("ada", "user", PASSWORD);
    const { secret } = await access.logIn(at("192.0.2.1"), { name: "ada", password: PASSWORD });
    const ada = { ...as(here(access.identify(secret)), "read"), address: "192.0.2.1" };
    const asked = { principal: "", name: "", role: undefined, namespaces: [], days: 0, password: "wrong" };
    const wrong = refused("forbidden", "BAD_PASSWORD");
    await under.bind("ada", "writer", on(""));
    for (let i = 0; i < 28; i++) await expect(access.createToken(ada, asked)).rejects.toEqual(wrong);
    const change = { oldPassword: "wrong", newPassword: "another sentence" };
    for (let i = 0; i < 2; i++) await expect(access.changePassword(ada, change)).rejects.toEqual(wrong);
    await expect(access.createToken(ada, { ...asked, password: PASSWORD })).rejects.toEqual(LIMITED);
    expect(await outcome("192.0.2.1", "ada", PASSWORD)).toBe("LOGIN_LIMIT");
    expect(await outcome("192.0.2.2", "ada", PASSWORD)).toBe("in");
  });

  it("A78 ends the login that was used longest ago rather than refuse one more", async () => {
    const { access, clock } = under;
    await create("ada", "user", PASSWORD);
    const first = await access.logIn(VISITOR, { name: "ada", password: PASSWORD });
    const second = await access.logIn(VISITOR, { name: "ada", password: PASSWORD });
    clock.us += 60_000_000;
    here(access.identify(first.secret));
    const session = await access.createSession(as(here(access.identify(second.secret)), "public"));
    for (let i = 2; i < limits.loginsPerPrincipalMax; i++) {
      await access.logInSession(VISITOR, { name: "ada", password: PASSWORD });
    }
    here(access.identify(second.secret));
    // Both count to the minute.
    clock.us += 120_000_000;
    here(access.identify(first.secret));
    await access.logIn(VISITOR, { name: "ada", password: PASSWORD });
    expect(here(access.identify(first.secret)).principal.name).toBe("ada");
    expect(access.listTokens(ADMIN, "ada").filter(({ parent }) => parent === undefined)).toHaveLength(
      limits.loginsPerPrincipalMax,
    );
    for (let i = 0; i < 3; i++) await access.logIn(VISITOR, { name: "ada", password: PASSWORD });
    await expect(async () => access.identify(second.secret)).rejects.toThrow(BAD);
    // With what was made with it.
    await expect(async () => access.identifySession(session)).rejects.toThrow(BAD);
  });
}
