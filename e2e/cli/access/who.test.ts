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

  it("T262 lists only one's own runs, also with a query that has an or and an order", async () => {
    const names = async (name: string, ...words: string[]) => {
      const listed = await as(name, "ls", "--json", ...words);
      expect(listed, listed.stderr).toMatchObject({ code: 0 });
      return (listed.json() as { runs: { name: string }[] }).runs.map((run) => run.name);
    };
    expect((await names("ada", "--mine")).toSorted()).toEqual(["also-of-ada", "of-ada"]);
    expect(await names("bob", "--mine")).toEqual(["of-bob"]);
    expect(await names("eve", "--mine")).toEqual([]);
    const either = 'name = "of-ada" or name = "of-bob" order by name';
    expect(await names("ada", either, "--mine")).toEqual(["of-ada"]);
    expect(await names("ada", 'creator = "bob"')).toEqual(["of-bob"]);
    expect(await names("ada", "--mine", "--sort", "name:desc")).toEqual(["of-ada", "also-of-ada"]);
  });

  it("T262 shows provenance as columns, in tables, for spreadsheets and for the fields of a query", async () => {
    const data = ["--training-data", "s3://c4@v3", "--training-data", "s3://wiki", "--study", "ablation"];
    await as("bob", "log", "of-bob", ...data);
    const columns = ["--columns", "name,creator,study,training_data", "--sort", "name"];
    const { stdout } = await as("ada", "ls", 'training_data = "s3://wiki"', ...columns);
    expect(stdout).toMatch(
      /^NAME +CREATOR +STUDY +TRAINING_DATA\nof-bob +bob +ablation +s3:\/\/c4@v3, s3:\/\/wiki\n$/,
    );
    const csv = await as("ada", "ls", ...columns, "--csv");
    expect(csv.stdout).toContain('of-bob,bob,ablation,"s3://c4@v3, s3://wiki"');
    expect((await as("ada", "ls", 'study like "abl%"')).stdout).toMatch(
      /^NAME .* study *\n?.*\n?of-bob .* ablation/is,
    );
    const wrong = await as("ada", "ls", "--columns", "studie");
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.stderr).toContain("training_data");
  });
});
