import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { ADMIN, as, here, on, openAccess, VISITOR } from "#store/contract/access-under-test.ts";
import { openOnDisk } from "./testing/under-test.ts";

const PASSWORDS = ["planted-password-one", "planted-password-two", "planted-password-wrong"] as const;

describe("secrets", () => {
  it("S14 A13 are nowhere: not in the file, the log beside it, a backup, the audit or an error", async () => {
    const under = await openOnDisk();
    const { access, user, token, bind, system } = await openAccess(under);
    const secrets: string[] = [...PASSWORDS];
    const errors: unknown[] = [];
    const fails = (work: Promise<unknown>) =>
      work.then(
        () => expect.unreachable("it was not refused"),
        (thrown: unknown) => errors.push(thrown),
      );
    secrets.push((await access.bootstrap())!);
    const ada = await user("ada", PASSWORDS[0]);
    await bind("ada", "maintainer", on("a"));
    const own = await token("ada", { name: "laptop", role: "viewer" });
    const revoked = await token("ada");
    secrets.push(own.secret, revoked.secret);
    await access.revokeToken(ADMIN, revoked.token.id);
    const login = await access.logIn(VISITOR, { name: "ada", password: PASSWORDS[0] });
    secrets.push(login.secret);
    await access.updatePrincipal(ADMIN, { name: "ada", password: PASSWORDS[1] });
    await fails(access.logIn(VISITOR, { name: "ada", password: PASSWORDS[2] }));
    // Typed into the wrong field.
    await fails(access.logIn(VISITOR, { name: PASSWORDS[1], password: "ada" }));
    await fails(access.logIn(VISITOR, { name: own.secret, password: own.secret }));
    const asked = { name: "ci", kind: "service" as const, displayName: "" };
    await fails(access.createPrincipal(ADMIN, { ...asked, password: PASSWORDS[0] }));
    await fails(access.updatePrincipal(ADMIN, { name: "ada", password: `${PASSWORDS[0]}\ud800` }));
    await fails(access.updatePrincipal(ADMIN, { name: "ada", password: PASSWORDS[0].repeat(100) }));
    await fails(access.bindRole(as(ada, "maintain"), { principal: "ada", role: "admin", scope: on("a") }));
    for (const secret of [revoked.secret, own.secret.toUpperCase(), `${own.secret}x`, PASSWORDS[0]]) {
      try {
        here(access.identify(secret));
        expect.unreachable("it was accepted");
      } catch (thrown) {
        errors.push(thrown);
      }
    }
    here(access.identify(own.secret));
    await access.close();
    await system.createBackup(ADMIN, "planted");

    const files = [under.data, under.directory].flatMap((directory) =>
      readdirSync(directory, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => join(directory, name)),
    );
    const names = files.map((file) => file.slice(under.directory.length + 1)).toSorted();
    expect(names).toEqual(expect.arrayContaining(["data/cairn.db", "data/cairn.db-wal", "planted.db"]));
    const everything = { principal: "", action: "", target: "", pageSize: 0, pageToken: "" };
    const places = new Map<string, string>([
      ...files.map((file) => [file, readFileSync(file).toString("latin1")] as const),
      ["the audit", JSON.stringify(await access.listAudit(ADMIN, everything))],
      ["what is kept", JSON.stringify(await under.access.loadAccess())],
      ["the tokens", JSON.stringify(access.listTokens(ADMIN, "ada"))],
      ["the errors", inspect(errors, { depth: 10, showHidden: true })],
    ]);
    // The search itself works: other texts are found.
    expect(places.get(join(under.data, "cairn.db-wal"))).toContain("laptop");
    expect(places.get(join(under.directory, "planted.db"))).toContain("laptop");
    expect(errors.length).toBe(11);
    for (const [place, text] of places) {
      for (const secret of secrets) {
        // Also without the part that is the same for all.
        const part = secret.replace("cairn_", "");
        expect(text.includes(part), `${secret} in ${place}`).toBe(false);
      }
    }
    await under.discard();
  });
});
