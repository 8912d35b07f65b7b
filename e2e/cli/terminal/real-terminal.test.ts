/** What a person sees and types on a real terminal: questions, secrets, keys that end a command, colours. */
import { rmSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { useTerminal } from "../testing/cairn.ts";
import { runOnTerminal, type PtyRun } from "../testing/pty.ts";

const data = makeFolder();
afterAll(() => rmSync(data, { recursive: true, force: true }));

describe("a command on a real terminal", () => {
  const terminal = useTerminal(["--data", data, "--auth"]);
  const onTerminal = (words: string, env: NodeJS.ProcessEnv = {}): PtyRun =>
    runOnTerminal(`$CAIRN ${words}`, {
      HOME: terminal.home,
      CAIRN_SERVER: terminal.server.url,
      CAIRN_TOKEN: terminal.adminToken,
      ...env,
    });
  const anonymous = { CAIRN_SERVER: "", CAIRN_TOKEN: "" };
  const loginFile = () => stat(join(terminal.home, ".config", "cairn", "login.json"));
  const namesIn = async (namespace: string, trashed: boolean) => {
    const { runs } = await terminal.client.runs.searchRuns({ namespace, trashed, query: "order by name" });
    return runs.map(({ name }) => name).join("");
  };

  beforeAll(async () => {
    await terminal.client.access.createPrincipal({ name: "ada", kind: PrincipalKind.USER });
  });

  it("T17 has colours, unless disabled", async () => {
    await terminal.client.namespaces.createNamespace({ path: "col/our" });
    const screenOf = async (words: string, env: NodeJS.ProcessEnv = {}) => {
      const pty = onTerminal(words, env);
      await pty.ended;
      return pty.screen;
    };
    expect(await screenOf("ns")).toContain("\u001b[1mcol");
    expect(await screenOf("ns | cat")).not.toContain("\u001b");
  });

  it("T8 sets a password that is typed twice and not shown", async () => {
    const pty = onTerminal("access user password ada");
    await pty.shows("New password");
    pty.type("correct horse battery\r");
    await pty.shows("Once more");
    pty.type("correct horse battery\r");
    expect(await pty.ended).toBe(0);
    expect(pty.screen).not.toContain("correct horse");
    const { access } = terminal.client;
    await expect(access.logIn({ name: "ada", password: "correct horse battery" })).resolves.toBeDefined();
  });

  it("T8 asks for the password to make a token after a login", async () => {
    const { access } = terminal.client;
    const password = "a sentence of its own";
    await access.createPrincipal({ name: "pia", kind: PrincipalKind.USER, password });
    await access.bindRole({ principal: "pia", role: Role.VIEWER, scope: { namespace: "" } });
    const { secret } = await access.logIn({ name: "pia", password });
    const pty = onTerminal("token create typed", { CAIRN_TOKEN: secret });
    await pty.shows("Your password on");
    pty.type(`${password}\r`);
    expect(await pty.ended).toBe(0);
    expect(pty.screen).not.toContain(password);
  });

  it("T10, T12: asks before it replaces everything", async () => {
    await terminal.client.system.createBackup({ name: "before-upgrade" });
    await terminal.client.runs.createRun({ namespace: "backup", name: "after" });
    const pty = onTerminal("restore-backup before-upgrade");
    await pty.shows("Replace everything that");
    pty.type("no\r");
    expect(await pty.ended).toBe(1);
    expect(await namesIn("backup", false)).toBe("after");
  });

  it("T6, T17: Ctrl-C at the question ends with 130 and leaves the terminal echoing", async () => {
    const pty = onTerminal(`login ${terminal.server.url}; echo "code $?"; stty -a`, anonymous);
    await pty.shows("(not shown): ");
    pty.type("half\u0003");
    await pty.ended;
    expect(pty.screen).toContain("code 130");
    expect(pty.screen).toMatch(/(?<!-)\becho\b/);
    expect(pty.screen).toMatch(/(?<!-)\bicanon\b/);
    await expect(loginFile()).rejects.toThrow("ENOENT");
  });

  it("T6 asks for a token without showing it", async () => {
    const pty = onTerminal(`login ${terminal.server.url}`, anonymous);
    await pty.shows("(not shown): ");
    pty.type(`wrong\u0015${terminal.adminToken.slice(0, -1)}x\u007f${terminal.adminToken.at(-1)}\r`);
    expect(await pty.ended).toBe(0);
    expect(pty.screen).toContain("as admin (user)");
    expect(pty.screen).not.toContain(terminal.adminToken.slice(0, 12));
    expect((await loginFile()).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["n", "n\r", 1, "abc"],
    ["nothing", "\r", 1, "abc"],
    ["Ctrl-C", "\u0003", 130, "abc"],
    ["Ctrl-D", "\u0004", 1, "abc"],
    ["yes", "yes\r", 0, ""],
  ])("T10, T17: asks before it destroys, and takes %s for an answer", async (name, keys, code, left) => {
    const namespace = `trash/${name.toLowerCase()}`;
    for (const each of ["a", "b", "c"]) {
      const { run } = await terminal.client.runs.createRun({ namespace, name: each });
      await terminal.client.runs.deleteRun({ run: { id: run!.id } });
    }
    const pty = onTerminal(`rm --purge -n ${namespace} --query ''`);
    await pty.shows("Permanently destroy 3 runs? [y/N] ");
    pty.type(keys);
    expect(await pty.ended).toBe(code);
    expect(await namesIn(namespace, true)).toBe(left);
  });
});
