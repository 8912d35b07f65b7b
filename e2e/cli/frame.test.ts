import { describe, expect, it } from "vitest";
import { COMMANDS } from "#cli/command-table.ts";
import { runCairn, useTerminal } from "./testing/cairn.ts";

const ROWS = COMMANDS.flatMap(({ rows }) => rows);

describe("the command line", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;

  it("T1 lists every command in its help, and none without an explanation", async () => {
    const { stdout, code } = await runCairn(["--help"]);
    expect(code).toBe(0);
    for (const { name } of ROWS) expect(stdout).toMatch(new RegExp(`^  ${name} +\\S`, "m"));
    expect((await runCairn([])).stdout).toBe(stdout);
    expect((await runCairn(["help"])).stdout).toBe(stdout);
    expect((await runCairn(["help", "ns"])).stdout).toBe((await runCairn(["ns", "--help"])).stdout);
  });

  it.each(ROWS.map(({ name }) => name))("T1 has examples in the help of %s", async (name) => {
    const { stdout, code } = await runCairn([name, "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: cairn ${name}`);
    expect(stdout).toMatch(new RegExp(`Examples:\\n[^]*cairn ${name}`));
  });

  it.each([
    [["lss"], 'unknown command "lss"', "did you mean `cairn ls`?"],
    [["qqqqqqq"], 'unknown command "qqqqqqq"', "`cairn --help` lists all commands"],
    [["whoami", "--jsn"], 'unknown option "--jsn"', "did you mean --json?"],
    [["token", "creat"], 'unknown command "creat"', "did you mean create?"],
    [["--sever", "x", "ls"], 'unknown option "--sever"', "did you mean --server?"],
    [["restore-backup"], 'missing required argument "backup"', "--help"],
    [["whoami", "too", "much"], "too many arguments", "--help"],
    [["whoami", "--server"], 'option "--server <url>" argument missing', "--help"],
    [["whoami", "--server", "ftp://x"], "neither http:// nor https://", ""],
    [["whoami", "--server", "http://a:b@c"], "with a password in it", ""],
  ])("T2 says what is wrong with %j", async (words, message, hint) => {
    const { code, stdout, stderr } = await cairn(words);
    expect(stderr).toMatch(/^cairn: /);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(stdout).toBe("");
    expect(code).toBeGreaterThan(0);
  });

  it("T16 escapes control characters of its arguments", async () => {
    for (const words of [["\u001b[2Jls"], ["whoami", "--\u009b2J"], ["ns", "a\u001b]0;x\u0007"]]) {
      const { code, stderr } = await cairn(words);
      expect(code).toBeGreaterThan(0);
      expect(stderr).toContain("\\u00");
      expect(stderr).not.toMatch(/[\u001b\u0007\u009b]/);
    }
  });

  it.each([
    [["lss"], 2],
    [["whoami", "--jsn"], 2],
    [["verify", "nothing-there"], 3],
    [["whoami", "--server", "127.0.0.1:1"], 5],
  ])("T2 says it as JSON with --json: %j", async (words, exitCode) => {
    const { code, stdout, stderr } = await cairn([...words, "--json"]);
    expect(JSON.parse(stderr)).toEqual({
      error: { message: expect.any(String), hint: expect.any(String), exitCode },
    });
    expect([code, stdout]).toEqual([exitCode, ""]);
  });

  it("T1 takes the options of every command before and after its name", async () => {
    const { url } = terminal.server;
    for (const words of [
      ["--json", "--server", url, "whoami"],
      ["whoami", `--server=${url}`, "--json"],
    ]) {
      const { stdout } = await runCairn(words, { env: {} });
      expect(JSON.parse(stdout)).toMatchObject({ server: url });
    }
  });

  it.each([
    ["no home", {}],
    ["a home that is not there", { HOME: "/nowhere/at/all" }],
    ["a home behind a file", { HOME: "/dev/null/home" }],
  ])("T19 works with %s", async (_what, env) => {
    const { code, stdout } = await runCairn(["whoami", "--server", terminal.server.url], { env });
    expect(code).toBe(0);
    expect(stdout).toContain("owner (owner)");
  });

  it("T17 has colours on a terminal, unless disabled", async () => {
    await terminal.client.namespaces.createNamespace({ path: "col/our" });
    const outputOf = async (env: NodeJS.ProcessEnv, isTerminal: boolean, ...words: string[]) =>
      (await cairn(["ns", ...words], { env: { NO_COLOR: "", TERM: "xterm", ...env }, isTerminal })).stdout;
    expect(await outputOf({}, true)).toContain("\u001b[1mcol");
    expect(await outputOf({ NO_COLOR: "1" }, true)).not.toContain("\u001b");
    expect(await outputOf({ TERM: "dumb" }, true)).not.toContain("\u001b");
    expect(await outputOf({}, true, "--json")).not.toContain("\u001b");
    expect(await outputOf({}, false)).not.toContain("\u001b");
    expect(await outputOf({ FORCE_COLOR: "1" }, false)).toContain("\u001b[1mcol");
  });

  it("T13 prints its version also when no server answers", async () => {
    const { code, stdout } = await runCairn(["--version", "--server", "127.0.0.1:1"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^cairn {3}\d+\.\d+\.\d+ \(node 24\.[\d.]+, API cairn\.v1\)\nserver {2}cannot reach /,
    );
    expect((await cairn(["version"])).stdout).toMatch(/\nserver {2}\d+\.\d+\.\d+ at http:\/\/127\.0\.0\.1:/);
    expect((await cairn(["version", "--json"])).json()).toMatchObject({
      client: { api: "cairn.v1" },
      server: { compatible: true, engines: { search: "columns" } },
    });
    expect((await cairn(["version", "--client"])).stdout.trim().split("\n")).toHaveLength(1);
  });
});
