import { beforeEach, expect, it } from "vitest";
import type { Permission } from "#core/types/permission.ts";
import type { NewToken } from "#core/access/views.ts";
import { as, here, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { refused, useStores, type OpenStores } from "../stores.ts";

/** What a caller with limited rights sees: one with a bounded token, and one that a scope is closed to. */
export function coreAccessBoundsContract(open: OpenStores): void {
  const bench = useStores(open);
  let under: AccessUnderTest;
  beforeEach(async () => {
    under = await openAccess(bench.under);
    const { user, group, bind } = under;
    await user("ada", "correct horse");
    await group("asr", "ada");
    await group("medical", "ada");
    await bind("ada", "maintainer", on("lab"));
    await bind("ada", "admin", on("other"));
    await bind("asr", "writer", on("lab/asr/en"));
    await bind("medical", "viewer", on("medical"));
    await bind("everyone", "viewer", on(""));
  });
  const caller = async (bounds: Partial<NewToken>, permission: Permission = "read") =>
    as(here(under.access.identify((await under.token("ada", bounds)).secret)), permission);

  it("A41 a bounded token is shown the roles it has, where it has them", async () => {
    const { access } = under;
    const shown = async (bounds: Partial<NewToken>) => {
      const { principal, bindings } = access.whoAmI(await caller(bounds, "public"));
      const roles = bindings.map(({ principal: of, role, scope }) => `${of} ${role} ${scope.namespace}`);
      return [principal.groups, roles];
    };
    expect(await shown({})).toEqual([
      ["asr", "medical"],
      [
        "ada maintainer lab",
        "ada admin other",
        "asr writer lab/asr/en",
        "medical viewer medical",
        "everyone viewer ",
      ],
    ]);
    expect(await shown({ namespaces: ["lab/asr"] })).toEqual([
      ["asr"],
      ["ada maintainer lab/asr", "asr writer lab/asr/en", "everyone viewer lab/asr"],
    ]);
    expect(await shown({ namespaces: ["lab/tts"], role: "writer" })).toEqual([
      [],
      ["ada writer lab/tts", "everyone viewer lab/tts"],
    ]);
    expect((await shown({ role: "viewer" }))[1]).toEqual([
      "ada viewer lab",
      "ada viewer other",
      "asr viewer lab/asr/en",
      "medical viewer medical",
      "everyone viewer ",
    ]);
  });

  it("A41 a bounded token is shown no other token of its principal", async () => {
    const { access, bind } = under;
    const whole = await caller({ name: "whole" });
    for (const bounds of [{ role: "viewer" }, { namespaces: ["lab/asr"] }] as const) {
      const narrow = await caller({ name: "narrow", ...bounds });
      for (const asked of ["", "ada"]) {
        expect(access.listTokens(narrow, asked)).toMatchObject([{ id: narrow.tokenId, name: "narrow" }]);
      }
    }
    expect(
      access
        .listTokens(whole, "")
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["", "narrow", "narrow", "whole"]);
    // An administrator of the root may list the tokens of all principals, its own among them.
    await bind("ada", "admin", on(""));
    expect(access.listTokens(await caller({ role: "admin" }), "ada")).toHaveLength(5);
  });

  it("A41 A19 a bounded token is explained its own role, and nothing outside its namespaces", async () => {
    const { access } = under;
    const narrow = await caller({ role: "maintainer", namespaces: ["lab/asr"] }, "maintain");
    for (const principal of ["", "ada"]) {
      const explained = await access.explain(narrow, { principal, scope: on("lab/asr/en") });
      expect(explained).toMatchObject({
        role: "maintainer",
        summary: '"ada" is maintainer of namespace "lab/asr/en" by this token',
      });
      expect(explained.reasons.map(({ binding }) => binding.scope.namespace)).toEqual([
        "lab/asr",
        "lab/asr",
        "lab/asr/en",
      ]);
    }
    await under.user("ben");
    await under.bind("ben", "admin", on(""));
    const other = await access.explain(narrow, { principal: "ben", scope: on("lab/asr") });
    expect(other).toMatchObject({
      role: "admin",
      summary: '"ben" is admin of namespace "lab/asr": bound on namespace "lab/asr"',
    });
    await expect(access.explain(narrow, { principal: "", scope: on("lab") })).rejects.toEqual(
      refused("forbidden"),
    );
  });

  it("A21 a scope that is closed to the caller is answered as one without bindings, and cannot be changed", async () => {
    const { access, bind, close } = under;
    await under.user("ben");
    await bind("ben", "maintainer", on("lab/secret"));
    await close(on("lab/secret"));
    const ada = await caller({}, "maintain");
    const answers = async (namespace: string) => {
      const scope = on(namespace);
      const named = (text: string) => text.replaceAll(namespace, "NAMESPACE");
      return named(
        JSON.stringify([
          await access.getScope(ada, scope),
          await access.explain(ada, { principal: "", scope }),
          await access.explain(ada, { principal: "ben", scope }),
        ]),
      );
    };
    for (const below of ["", "/deeper"]) {
      expect(await answers(`lab/secret${below}`)).toBe(await answers(`lab/nothing${below}`));
    }
    const scope = on("lab/secret");
    for (const change of [
      () => access.setClosed(ada, { scope, closed: false }),
      () => access.unbindRole(ada, { principal: "ben", scope }),
      () => access.bindRole(ada, { principal: "ada", role: "viewer", scope }),
    ]) {
      await expect(change()).rejects.toEqual(refused("forbidden", "NO_RIGHT"));
    }
    expect(ada.rights.may("read", { namespace: "lab/secret" })).toBe(false);
  });
}
