import { beforeEach, expect, it } from "vitest";
import { as, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { createRun, refused, useStores, type OpenStores } from "../stores.ts";

/** Who sets the capture policy. */
export function coreAccessCaptureContract(open: OpenStores): void {
  const bench = useStores(open);
  let under: AccessUnderTest;
  beforeEach(async () => {
    under = await openAccess(bench.under);
  });

  it("N6 an administrator of the namespace sets its capture policy; a maintainer does not", async () => {
    const { namespaces, user, bind, audit } = under;
    const [ana, mia] = [as(await user("ana"), "maintain"), as(await user("mia"), "maintain")];
    await bind("ana", "admin", on("a"));
    await bind("mia", "maintainer", on(""));
    await createRun(bench.runs, { namespace: "a/b" });
    const noRight = refused("forbidden", "NO_RIGHT");
    const forbid = { forbidsConsole: true };
    await expect(namespaces.update(mia, { path: "a", ...forbid })).rejects.toEqual(noRight);
    await expect(namespaces.update(mia, { path: "a", description: "x", ...forbid })).rejects.toEqual(noRight);
    const updated = await namespaces.update(ana, { path: "a", ...forbid });
    expect(updated).toMatchObject({ description: "", capture: { forbidsConsole: true, forbidsCode: false } });
    await expect(namespaces.update(mia, { path: "a", forbidsConsole: false })).rejects.toEqual(noRight);
    // She still maintains everything else, and does not change the policy.
    expect(await namespaces.update(mia, { path: "a", description: "mine" })).toMatchObject({
      description: "mine",
      capture: { forbidsConsole: true },
      forbidden: { console: "a" },
    });
    expect((await audit()).slice(-2)).toEqual(["set-capture-policy a", "update-namespace a"]);
  });

  it("N6 a policy is removed with its namespace only by an administrator", async () => {
    const { namespaces, user, bind } = under;
    const [ana, mia] = [as(await user("ana"), "maintain"), as(await user("mia"), "maintain")];
    await bind("ana", "admin", on("a"));
    await bind("mia", "maintainer", on("a"));
    await namespaces.create(mia, { path: "a/b", description: "", objective: undefined });
    await namespaces.update(ana, { path: "a/b", forbidsCode: true });
    const { namespaceTrash } = under.core;
    await namespaceTrash.delete(mia, "a/b");
    await expect(namespaceTrash.purge(mia, "a/b")).rejects.toEqual(refused("forbidden", "NO_RIGHT"));
    await namespaceTrash.purge(ana, "a/b");
    const again = await namespaces.create(mia, { path: "a/b", description: "", objective: undefined });
    expect(again.forbidden).toEqual({ console: undefined, code: undefined });
    for (const act of ["delete", "purge"] as const) await namespaceTrash[act](mia, "a/b");
  });
}
