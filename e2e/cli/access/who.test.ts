import { beforeAll, describe, expect, it } from "vitest";
import { PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { useTerminal } from "../testing/cairn.ts";

/** Who created, changed and ended runs, of several users. */
describe("who did it", () => {
  const terminal = useTerminal(["--data", "memory:", "--auth"]);
  const tokens = new Map<string, string>();
  const as = (name: string, ...words: string[]) =>
    terminal.cairn(words, { env: { CAIRN_TOKEN: tokens.get(name)! } });

  beforeAll(async () => {
    const { access, namespaces } = terminal.client;
    await namespaces.createNamespace({ path: "team" });
    for (const name of ["ada", "bob", "eve"]) {
      await access.createPrincipal({ name, kind: PrincipalKind.USER });
      await access.bindRole({ principal: name, role: Role.WRITER, scope: { namespace: "team" } });
      tokens.set(name, (await access.createToken({ principal: name, name })).secret);
    }
    for (const [name, run] of [
      ["ada", "of-ada"],
      ["ada", "also-of-ada"],
      ["bob", "of-bob"],
    ] as const) {
      const made = await as(name, "log", run, "--create", "-n", "team", "loss=1");
      expect(made, made.stderr).toMatchObject({ code: 0 });
    }
  });

  it("T253 shows who created, ended and changed a run, and others only where they differ", async () => {
    expect((await as("ada", "show", "of-ada")).stdout).toMatch(/\nby +ada\n/);
    await as("bob", "log", "of-ada", "--status", "finished");
    await as("eve", "log", "of-ada", "--study", "ablation");
    expect((await as("ada", "show", "of-ada")).stdout).toMatch(/\nby +ada, ended by bob, changed by eve\n/);
    expect((await as("ada", "show", "of-ada", "--json")).json()).toMatchObject({
      creator: "ada",
      endedBy: "bob",
      changedBy: "eve",
      deletedBy: "",
    });
    await as("bob", "rm", "also-of-ada", "--yes");
    const trashed = await as("ada", "ls", "--trash", "--json");
    expect(trashed.json()).toMatchObject({ runs: [{ creator: "ada", deletedBy: "bob" }] });
    await as("bob", "restore", "also-of-ada");
  });
});
