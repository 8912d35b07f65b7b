import { beforeAll, describe, expect, it } from "vitest";
import { useTerminal } from "./testing/cairn.ts";

describe("names of runs", () => {
  const terminal = useTerminal();
  /** `verify` is a command that takes runs and says which one it took. */
  const find = async (word: string, ...more: string[]) => {
    const { code, stderr, stdout } = await terminal.cairn(["verify", word, "--json", ...more]);
    if (code !== 0) return { code, stderr };
    const { runs } = JSON.parse(stdout) as { runs: { run: string }[] };
    return { id: runs[0]!.run };
  };
  const ids: Record<string, string> = {};

  const make = async (namespace: string, name: string, aliases: string[] = []) => {
    const { run } = await terminal.client.runs.createRun({ namespace, name, aliases });
    return run!.id;
  };

  beforeAll(async () => {
    ids["first"] = await make("demo/mnist", "first", ["local://torchx/first-1"]);
    ids["twin-a"] = await make("demo/mnist", "twin");
    ids["twin-b"] = await make("demo/cifar", "twin", ["shared"]);
    ids["quoted"] = await make("demo/cifar", 'it\'s "50%" \\ off', ["shared-too"]);
    ids["alias-a"] = await make("demo/x", "x", ["both"]);
    ids["alias-b"] = await make("demo/y", "y", ["both"]);
    ids["hex"] = await make("demo/x", "decade");
  });

  it.each([
    ["id", () => ids["first"]!],
    ["path", () => `demo/mnist/${ids["first"]}`],
    ["alias", () => "local://torchx/first-1"],
    ["name", () => "first"],
    ["namespace and name", () => "demo/mnist/first"],
    ["beginning of its id", () => ids["first"]!.slice(0, 20)],
    ["namespace and beginning", () => `demo/mnist/${ids["first"]!.slice(0, 20)}`],
  ])("T4 finds a run by its %s", async (_what, word) => {
    expect(await find(word())).toEqual({ id: ids["first"] });
  });

  it("T4 accepts any name literally", async () => {
    expect(await find('it\'s "50%" \\ off')).toEqual({ id: ids["quoted"] });
  });

  it("T4 prefers a name that looks like hex digits", async () => {
    expect(await find("decade")).toEqual({ id: ids["hex"] });
  });

  it("T4 lists the candidates of a name that several have", async () => {
    const { code, stderr } = await terminal.cairn(["verify", "twin"]);
    expect(code).toBe(2);
    expect(stderr).toContain('cannot choose a run for "twin": 2 runs match');
    expect(stderr).toContain(`demo/mnist/${ids["twin-a"]}`);
    expect(stderr).toContain(`demo/cifar/${ids["twin-b"]}`);
  });

  it("T4 searches only the given namespace", async () => {
    expect(await find("twin", "-n", "demo/mnist")).toEqual({ id: ids["twin-a"] });
    expect(await find("demo/cifar/twin")).toEqual({ id: ids["twin-b"] });
    expect(await find("first", "-n", "demo/cifar")).toMatchObject({ code: 3 });
  });

  it("T4 lists the candidates of an alias that several have", async () => {
    const { code, stderr } = await terminal.cairn(["verify", "both"]);
    expect(code).toBe(2);
    expect(stderr).toContain(ids["alias-a"]);
    expect(stderr).toContain(ids["alias-b"]);
  });

  it("T4 lists the candidates of a beginning that several ids have", async () => {
    const { code, stderr } = await terminal.cairn(["verify", ids["first"]!.slice(0, 6)]);
    expect(code).toBe(2);
    expect(stderr).toContain("7 runs match");
  });

  it("T4 does not accept five digits as the beginning of an id", async () => {
    const { code } = await terminal.cairn(["verify", ids["first"]!.slice(0, 5)]);
    expect(code).toBe(3);
  });

  it.each([
    ["frist", "did you mean first?"],
    ["local://torchx/first-2", "did you mean local://torchx/first-1?"],
    ["decad", "did you mean decade?"],
    ["50%", "did you mean \"it's"],
    ["nothing-like-it-at-all", "`cairn ls` lists all runs"],
  ])("T4 names what is near %s", async (word, hint) => {
    const { code, stderr } = await terminal.cairn(["verify", word]);
    expect(stderr).toContain(`cannot find run "${word}"`);
    expect(stderr).toContain(hint);
    expect(code).toBe(3);
  });

  it("T4 says that a run is in the trash", async () => {
    const id = await make("demo/bin", "gone");
    await terminal.client.runs.deleteRun({ run: { id } });
    const { code, stderr } = await terminal.cairn(["verify", "gone"]);
    expect(stderr).toContain(`it is in the trash: \`cairn restore ${id}\``);
    expect(code).toBe(3);
  });

  it("T4 refuses an empty name", async () => {
    expect(await terminal.cairn(["verify", ""])).toMatchObject({ code: 2 });
  });

  it("T4 makes no suggestion for a text that cannot name a run", async () => {
    expect(await terminal.cairn(["verify", "x".repeat(5_000)])).toMatchObject({ code: 3 });
  });

  it("T16 escapes control characters of a hostile name in an error", async () => {
    await make("demo/evil", "evil\u001b]0;owned\u0007\u001b[2J");
    await make("demo/evil", "evil\u001b]0;owned\u0007\u001b[2J");
    const { stderr } = await terminal.cairn(["verify", "evil\u001b]0;owned\u0007\u001b[2J"]);
    expect(stderr).toContain("2 runs match");
    expect(stderr).not.toMatch(/[\u001b\u0007]/);
  });
});
