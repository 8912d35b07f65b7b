import { beforeEach, expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { ADMIN, as, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { NOW_US, refused, useStores, type OpenStores } from "../stores.ts";

const PASSWORD = "correct horse battery";

export function coreAccessPrincipalsContract(open: OpenStores): void {
  const bench = useStores(open);
  let under: AccessUnderTest;
  beforeEach(async () => {
    under = await openAccess(bench.under);
  });
  const create = (name: string, kind: "user" | "service" | "group" = "user", password = "") =>
    under.access.createPrincipal(ADMIN, { name, kind, displayName: name.toUpperCase(), password });

  it("checks names, and distinguishes different ones", async () => {
    const { access } = under;
    const long = "n".repeat(limits.principalNameBytesMax);
    for (const name of ["ada", "Ada", "ci-nightly", "a.b_c@d+e", "7", long]) await create(name);
    await expect(create("ada")).rejects.toEqual(refused("exists"));
    const wrong = [
      "",
      " ada",
      "a b",
      "ä",
      "-x",
      ".x",
      `${long}n`,
      "a/b",
      "a\n",
      "owner",
      "Everyone",
      "ANONYMOUS",
    ];
    for (const name of wrong) await expect(create(name)).rejects.toEqual(refused("invalid"));
    const pages: string[][] = [];
    let pageToken = "";
    do {
      const page = access.listPrincipals(ADMIN, { pageSize: 4, pageToken });
      pages.push(page.principals.map(({ name }) => name));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(pages).toEqual([
      ["7", "Ada", "a.b_c@d+e", "ada"],
      ["ci-nightly", long],
    ]);
  });

  it("changes only the given fields", async () => {
    const { access } = under;
    await create("ada", "user", PASSWORD);
    const before = (await access.updatePrincipal(ADMIN, {
      name: "ada",
      displayName: "Ada",
    })) satisfies object;
    expect(before).toEqual({
      name: "ada",
      kind: "user",
      displayName: "Ada",
      disabled: false,
      createdUs: NOW_US,
      members: [],
      groups: [],
      hasPassword: true,
    });
    expect(await access.updatePrincipal(ADMIN, { name: "ada", disabled: true })).toEqual({
      ...before,
      disabled: true,
    });
    expect(await access.updatePrincipal(ADMIN, { name: "ada", password: "" })).toMatchObject({
      disabled: true,
      hasPassword: false,
    });
    const again = await openAccess(bench.under);
    const [stored] = again.access.listPrincipals(ADMIN, { pageSize: 0, pageToken: "" }).principals;
    expect(stored).toMatchObject({ displayName: "Ada", disabled: true, hasPassword: false });
    await expect(access.updatePrincipal(ADMIN, { name: "nobody" })).rejects.toEqual(refused("not-found"));
    await expect(access.deletePrincipal(ADMIN, "nobody")).rejects.toEqual(refused("not-found"));
  });

  it("keeps users and services in groups, and no groups", async () => {
    const { access } = under;
    await create("ada");
    await create("ci", "service");
    for (const name of ["lab", "other"]) await create(name, "group");
    for (const member of ["ci", "ada"]) await access.addMember(ADMIN, { group: "lab", member });
    const nested = access.addMember(ADMIN, { group: "lab", member: "other" });
    await expect(nested).rejects.toEqual(refused("invalid"));
    await expect(access.addMember(ADMIN, { group: "ada", member: "ci" })).rejects.toEqual(refused("invalid"));
    await expect(access.addMember(ADMIN, { group: "lab", member: "no" })).rejects.toEqual(
      refused("not-found"),
    );
    await expect(access.addMember(ADMIN, { group: "no", member: "ada" })).rejects.toEqual(
      refused("not-found"),
    );
    const list = () => access.listPrincipals(ADMIN, { pageSize: 0, pageToken: "" }).principals;
    expect(list()).toMatchObject([
      { name: "ada", groups: ["lab"] },
      { name: "ci", groups: ["lab"] },
      { name: "lab", members: ["ada", "ci"] },
      { name: "other", members: [] },
    ]);
    await access.removeMember(ADMIN, { group: "lab", member: "nobody" });
    await access.deletePrincipal(ADMIN, "ada");
    await access.deletePrincipal(ADMIN, "other");
    expect(list()).toMatchObject([{ name: "ci" }, { name: "lab", members: ["ci"] }]);
    await create("ada");
    expect(list()[0]).toMatchObject({ name: "ada", groups: [] });
  });

  it("leaves principals to the administrators of the root; maintainers may look them up", async () => {
    const { access, user, bind } = under;
    const ada = await user("ada");
    const ben = await user("ben");
    await bind("ada", "maintainer", on(""));
    await bind("ben", "writer", on(""));
    const asked = { name: "x", kind: "user" as const, displayName: "", password: "" };
    const refusals = [
      () => access.createPrincipal(as(ada, "administer"), asked),
      () => access.updatePrincipal(as(ada, "administer"), { name: "ben", disabled: true }),
      () => access.deletePrincipal(as(ada, "administer"), "ben"),
      () => access.addMember(as(ada, "administer"), { group: "x", member: "ada" }),
      () => access.removeMember(as(ada, "administer"), { group: "x", member: "ada" }),
      () => access.verifyAudit(as(ada, "administer")),
      () =>
        access.listAudit(as(ada, "administer"), {
          principal: "",
          action: "",
          target: "",
          pageSize: 0,
          pageToken: "",
        }),
    ];
    for (const refusal of refusals) await expect(refusal()).rejects.toEqual(refused("forbidden"));
    const page = { pageSize: 0, pageToken: "" };
    expect(access.listPrincipals(as(ada, "maintain"), page).principals).toHaveLength(2);
    expect(() => access.listPrincipals(as(ben, "maintain"), page)).toThrow(
      expect.objectContaining({ code: "forbidden" }),
    );
  });
}
