import { beforeEach, describe, expect, it } from "vitest";
import { useTerminal } from "./testing/cairn.ts";

describe("cairn rm, cairn restore", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;
  let namespace = "";
  let count = 0;

  beforeEach(async () => {
    namespace = `trash/${++count}`;
    for (const name of ["a", "b", "c"]) {
      await terminal.client.runs.createRun({ namespace, name, params: { n: JSON.stringify(name) } });
    }
  });
  const names = async (trashed: boolean) => {
    const { runs } = await terminal.client.runs.searchRuns({ namespace, trashed, query: "order by name" });
    return runs.map(({ name }) => name).join("");
  };

  it("T10 moves named runs to the trash without asking, and restores them", async () => {
    const { code, stdout } = await cairn(["rm", "a", "b", "-n", namespace]);
    expect([code, stdout]).toEqual([0, "Moved to the trash: 2 runs.\n"]);
    expect([await names(false), await names(true)]).toEqual(["c", "ab"]);
    const back = await cairn(["restore", "a", "-n", namespace]);
    expect(back.stdout).toMatch(/^Restored a \([0-9a-f]{16}\)\.\n$/);
    expect([await names(false), await names(true)]).toEqual(["ac", "b"]);
  });

  it("T10 does nothing by query without a terminal and --yes", async () => {
    const words = ["rm", "-n", namespace, "--query", 'params.n != "b"'];
    const refused = await cairn(words);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('cannot ask "Move 2 runs to the trash?": there is no terminal');
    expect(await names(false)).toBe("abc");
    const { stdout, code } = await cairn([...words, "--yes", "--json"]);
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as { done: string[] }).done).toHaveLength(2);
    expect(await names(false)).toBe("b");
    await cairn(["restore", "-n", namespace, "--query", ""]);
    expect(await names(false)).toBe("abc");
  });

  it("T10 destroys only runs in the trash, and only after confirmation", async () => {
    const live = await cairn(["rm", "--purge", "a", "-n", namespace, "--yes"]);
    expect(live.code).toBe(3);
    expect(live.stderr).toContain("it is not in the trash");
    await cairn(["rm", "a", "-n", namespace]);
    expect(await cairn(["rm", "--purge", "a", "-n", namespace])).toMatchObject({ code: 2 });
    expect(await names(true)).toBe("a");
    const { stdout, code } = await cairn(["rm", "--purge", "a", "-n", namespace, "--yes"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Destroyed a /);
    expect(await names(true)).toBe("");
  });

  it("T10 refuses to purge a run that is not in the trash by its id", async () => {
    const { runs } = await terminal.client.runs.searchRuns({ namespace });
    const { code, stderr } = await cairn(["rm", "--purge", runs[0]!.id, "--yes"]);
    expect(code).toBe(1);
    expect(stderr).toContain(`move it there first: \`cairn rm ${runs[0]!.id}\``);
    expect(await names(false)).toBe("abc");
  });

  it("T10 needs to know which runs are meant", async () => {
    expect(await cairn(["rm", "--yes"])).toMatchObject({ code: 2 });
    expect(await cairn(["rm", "--query", "nonsense ="])).toMatchObject({ code: 1 });
    expect(await cairn(["rm", "a", "zzz", "-n", namespace])).toMatchObject({ code: 3 });
    // One that is not found keeps the others where they are.
    expect(await names(false)).toBe("abc");
  });

  it("T10 reports failures, and continues with the others", async () => {
    const { secret } = await terminal.client.access.createToken({
      principal: await makeWriter(),
      name: "half",
    });
    const { runs } = await terminal.client.runs.searchRuns({ namespace, query: 'name = "b"' });
    await terminal.client.access.setClosed({ scope: { runId: runs[0]!.id }, closed: true });
    await terminal.client.access.bindRole({
      principal: "half",
      role: 1,
      scope: { runId: runs[0]!.id },
    });
    const { code, stdout, stderr } = await cairn(["rm", "a", "b", "c", "-n", namespace], {
      env: { CAIRN_TOKEN: secret },
    });
    expect(code).toBe(1);
    expect(stdout).toBe("Moved to the trash: 2 runs.\n");
    expect(stderr).toMatch(/^cairn: b \([0-9a-f]{16}\): cannot /);
    expect([await names(false), await names(true)]).toEqual(["b", "ac"]);
  });

  async function makeWriter(): Promise<string> {
    await terminal.client.access.createPrincipal({ name: "half", kind: 1 });
    await terminal.client.access.bindRole({ principal: "half", role: 2, scope: { namespace } });
    return "half";
  }
});

describe("cairn mv", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;
  let namespace = "";
  let count = 0;

  beforeEach(async () => {
    namespace = `moves/${++count}`;
    for (const name of ["a", "b", "c"]) {
      const aliases = [`${namespace}-${name}`];
      await terminal.client.runs.createRun({ namespace: `${namespace}/old`, name, aliases });
    }
  });
  const namesIn = async (path: string) => {
    const query = `namespace = "${namespace}/${path}" order by name`;
    const { runs } = await terminal.client.runs.searchRuns({ query });
    return runs.map(({ name }) => name).join("");
  };

  it("T68 moves named runs to the last argument", async () => {
    const one = await cairn(["mv", "a", `${namespace}/new/deep`, "-n", namespace]);
    expect([one.code, one.stderr]).toEqual([0, ""]);
    expect(one.stdout).toMatch(/^Moved to moves\/1\/new\/deep: a \([0-9a-f]{16}\)\.\n$/);
    const more = await cairn(["mv", `${namespace}-b`, `${namespace}/old/c`, `${namespace}/new`]);
    expect(more).toMatchObject({ code: 0, stdout: `Moved to ${namespace}/new: 2 runs.\n` });
    expect([await namesIn("old"), await namesIn("new"), await namesIn("new/deep")]).toEqual(["", "bc", "a"]);
  });

  it("T68 moves the runs of a query after confirmation, and prints ids", async () => {
    const words = ["mv", "--query", 'name in ("a", "b")', "-n", namespace, `${namespace}/new`];
    const refused = await cairn(words);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain(`cannot ask "Move 2 runs to ${namespace}/new?": there is no terminal`);
    expect(await namesIn("old")).toBe("abc");
    const { stdout, code } = await cairn([...words, "--yes", "--json"]);
    expect(code).toBe(0);
    const { done, failed } = JSON.parse(stdout) as { done: string[]; failed: unknown[] };
    expect([done.length, failed]).toEqual([2, []]);
    expect([await namesIn("old"), await namesIn("new")]).toEqual(["c", "ab"]);
  });

  it("T68 names the run that cannot be moved, and moves the others", async () => {
    const aliases = [`${namespace}-b`];
    await terminal.client.runs.createRun({ namespace: `${namespace}/new`, name: "other", aliases });
    const words = ["a", "b", "c"].map((name) => `${namespace}/old/${name}`);
    const { code, stdout, stderr } = await cairn(["mv", ...words, `${namespace}/new`]);
    expect([code, stdout]).toEqual([1, `Moved to ${namespace}/new: 2 runs.\n`]);
    expect(stderr).toMatch(/^cairn: b \([0-9a-f]{16}\): cannot move run .*: alias ".*-b" is taken there/);
    expect([await namesIn("old"), await namesIn("new")]).toEqual(["b", "acother"]);
  });

  it("T68 needs runs and a namespace, and finds all runs before it moves one", async () => {
    const only = await cairn(["mv", "a"]);
    expect(only).toMatchObject({ code: 2 });
    expect(only.stderr).toContain('cannot tell what to move: only "a" is given');
    expect(await cairn(["mv"])).toMatchObject({ code: 2 });
    expect(await cairn(["mv", `${namespace}/old/a`, "zzz", `${namespace}/new`])).toMatchObject({ code: 3 });
    const wrong = await cairn(["mv", `${namespace}/old/a`, "/wrong"]);
    expect(wrong).toMatchObject({ code: 1 });
    expect(wrong.stderr).toContain('cannot use namespace "/wrong": it begins with "/"');
    expect(await namesIn("old")).toBe("abc");
  });
});
