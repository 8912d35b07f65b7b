import { beforeEach, expect, it } from "vitest";
import { OWNER } from "#core/access/caller.ts";
import { ADMIN, as, here, on, openAccess, VISITOR, type AccessUnderTest } from "../access-under-test.ts";
import { createRun, NOW_US, refused, useStores, type OpenStores } from "../stores.ts";

const PASSWORD = "correct horse battery";

export function coreAccessAuditContract(open: OpenStores, restores: boolean): void {
  const bench = useStores(open);
  let under: AccessUnderTest;
  beforeEach(async () => {
    under = await openAccess(bench.under);
  });
  const everything = { principal: "", action: "", target: "", pageSize: 0, pageToken: "" };

  it("A15 audits every change of access, every login and every deletion, and no refused call", async () => {
    const { access, audit, runs, core } = under;
    const owner = as(OWNER, "maintain");
    const id = await createRun(bench.runs, { namespace: "a" });
    const secret = (await access.bootstrap())!;
    const admin = as(here(access.identify(secret)), "administer");
    await access.createPrincipal(admin, { name: "ada", kind: "user", displayName: "", password: PASSWORD });
    await access.createPrincipal(admin, { name: "lab", kind: "group", displayName: "", password: "" });
    await access.updatePrincipal(admin, { name: "ada", disabled: false });
    await access.addMember(admin, { group: "lab", member: "ada" });
    await access.removeMember(admin, { group: "lab", member: "ada" });
    await access.removeMember(admin, { group: "lab", member: "ada" });
    await access.bindRole(admin, { principal: "ada", role: "viewer", scope: on("") });
    await access.bindRole(admin, { principal: "ada", role: "writer", scope: on("", id, "x") });
    await access.unbindRole(admin, { principal: "ada", scope: on("") });
    await access.setClosed(admin, { scope: on("a"), closed: true });
    await access.setClosed(admin, { scope: on("a"), closed: true });
    await access.setClosed(admin, { scope: on("a"), closed: false });
    const bounds = { role: "viewer" as const, namespaces: ["a"], days: 1 };
    const { token } = await access.createToken(admin, { principal: "ada", name: "", ...bounds });
    await access.revokeToken(admin, token.id);
    const login = await access.logIn(VISITOR, { name: "ada", password: PASSWORD });
    await access.logOut(as(here(access.identify(login.secret)), "public"));
    for (const name of ["ada", "typed-my-password"]) {
      await expect(access.logIn(VISITOR, { name, password: "wrong" })).rejects.toEqual(
        refused("unauthenticated"),
      );
    }
    await expect(access.deletePrincipal(admin, "nobody")).rejects.toEqual(refused("not-found"));
    await access.deletePrincipal(admin, "ada");
    await runs.delete(owner, { by: "id", id });
    await runs.restore(owner, { by: "id", id });
    await runs.delete(owner, { by: "id", id });
    await expect(core.namespaceTrash.purge(owner, "a")).rejects.toEqual(refused("precondition"));
    await runs.purge(owner, { by: "id", id });
    for (const act of ["delete", "restore", "delete", "delete", "purge"] as const) {
      await core.namespaceTrash[act](owner, "a");
    }
    expect(await audit()).toEqual([
      "bootstrap admin",
      "create-principal ada",
      "create-principal lab",
      "update-principal ada",
      "add-member lab",
      "remove-member lab",
      "bind-role /",
      `bind-role ${id}`,
      "unbind-role /",
      "close-scope a",
      "open-scope a",
      `create-token ${token.id}`,
      `revoke-token ${token.id}`,
      "log-in ada",
      "log-out ada",
      "log-in-refused ada",
      "log-in-refused unknown",
      "delete-principal ada",
      `delete-run ${id}`,
      `restore-run ${id}`,
      `delete-run ${id}`,
      `purge-run ${id}`,
      "delete-namespace a",
      "restore-namespace a",
      "delete-namespace a",
      "purge-namespace a",
    ]);
    const { entries } = await access.listAudit(ADMIN, { ...everything, target: id });
    expect(entries.at(-1)).toEqual({
      number: 8,
      timeUs: NOW_US,
      principal: "admin",
      token: expect.stringMatching(/^[0-9a-f]{32}$/),
      address: "",
      action: "bind-role",
      target: id,
      facts: { namespace: "a", artifact: "x", principal: "ada", role: "writer" },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await access.verifyAudit(ADMIN)).toEqual({ entries: 26, problems: [] });
  });

  it("A15 audits some of many refused logins, and the number of the others", async () => {
    const { access, clock } = under;
    const refuse = (count: number) =>
      Promise.allSettled(
        Array.from({ length: count }, (_, i) => access.logIn(VISITOR, { name: `n${i}`, password: "x" })),
      );
    await refuse(30);
    clock.us += 10_000_000;
    await refuse(1);
    const asked = { ...everything, action: "log-in-refused" };
    const { entries } = await access.listAudit(ADMIN, asked);
    expect(entries).toHaveLength(21);
    expect(entries.map(({ facts }) => facts["not_written_before"])).toEqual(["10", ...Array<undefined>(20)]);
  });

  it("A16 lists the audit page by page", async () => {
    const { access, user } = under;
    for (const name of ["a", "b", "c"]) await user(name);
    const numbers: number[] = [];
    let pageToken = "";
    do {
      const page = await access.listAudit(ADMIN, { ...everything, pageSize: 4, pageToken });
      numbers.push(...page.entries.map(({ number }) => number));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(numbers).toEqual([6, 5, 4, 3, 2, 1]);
    for (const wrong of ["x", "-1", "1.5"]) {
      await expect(access.listAudit(ADMIN, { ...everything, pageToken: wrong })).rejects.toEqual(
        refused("invalid"),
      );
    }
  });

  it.runIf(restores)("A18 uses the restored state, and notifies subscribers", async () => {
    const { access, user, bind, system, audit } = under;
    const ben = await user("ben");
    await bind("ben", "viewer", on("a"));
    const backup = await system.createBackup(ADMIN, "one");
    await bind("ben", "admin", on("b"));
    const late = await user("late");
    let heard = 0;
    access.onChange(() => heard++);
    const { keptAside } = await system.restoreBackup(ADMIN, backup.name);
    expect(heard).toBe(1);
    expect(ben.rights.may("read", { namespace: "a" })).toBe(true);
    expect(ben.rights.may("read", { namespace: "b" })).toBe(false);
    expect(() => late.rights.may("read", { namespace: "a" })).toThrow(
      expect.objectContaining({ reason: "CREDENTIAL_ENDED" }),
    );
    expect((await audit()).slice(-1)).toEqual(["restore-backup one"]);
    const [entry] = (await access.listAudit(ADMIN, everything)).entries;
    expect(entry).toMatchObject({ principal: "owner", facts: { kept_aside: keptAside.name } });
    await bind("ben", "viewer", on("c"));
    expect(await access.verifyAudit(ADMIN)).toMatchObject({ problems: [] });
  });
}
