import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { useTerminal } from "../../cli/testing/cairn.ts";
import { PACKAGE, python } from "../python.ts";
import { pythonCairn, useHome, type PythonRun } from "./python-cairn.ts";

describe("cairn login of the Python package", () => {
  const terminal = useTerminal(["--data", "memory:", "--auth"]);
  const home = useHome();
  const path = join(home, ".config", "cairn", "login.json");
  const cairn = (words: readonly string[], options: PythonRun = {}) =>
    pythonCairn(words, { ...options, env: { HOME: home, ...options.env } });
  const saved = () => JSON.parse(readFileSync(path, "utf8")) as unknown;
  let token = "";

  beforeAll(async () => {
    const { access } = terminal.client;
    await access.createPrincipal({
      kind: PrincipalKind.USER,
      name: "ada",
      password: "correct horse battery",
    });
    await access.bindRole({ principal: "ada", role: Role.VIEWER, scope: {} });
    token = (await access.createToken({ principal: "ada", name: "laptop", days: 1 })).secret;
  });

  it("T224 names the login command where there is no token", async () => {
    const refused = await cairn(["ls"], { env: { CAIRN_SERVER: terminal.server.url } });
    expect(refused).toMatchObject({ code: 4, stdout: "" });
    expect(refused.stderr).toContain(
      `log in with \`cairn login ${terminal.server.url}\`, or set CAIRN_TOKEN`,
    );
    const asked = await cairn(["login", terminal.server.url]);
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain("cannot ask for a token: there is no terminal");
  });

  it("T224 saves only a token that the server accepts, for this user alone", async () => {
    const wrong = await cairn(["login", terminal.server.url, "--token-stdin"], { stdin: "cairn_nothing\n" });
    expect(wrong.code).toBe(4);
    expect(() => statSync(path)).toThrow();
    const login = await cairn(["login", terminal.server.url, "--token-stdin"], { stdin: `${token}\n` });
    expect(login.stdout).toBe(
      `Logged in to ${terminal.server.url} as ada (user).\nThe token "laptop" expires in 1d.\n`,
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(saved()).toEqual({ default: terminal.server.url, servers: { [terminal.server.url]: { token } } });
  });

  it("T224 the login is that of all programs of the user", async () => {
    expect((await cairn(["ls"])).code).toBe(0);
    const env = { HOME: home, CAIRN_SERVER: "" };
    expect((await terminal.cairn(["whoami"], { env })).stdout).toContain("ada (user) on ");
    const [ours, theirs] = [
      await cairn(["login", "--list"]),
      await terminal.cairn(["login", "--list"], { env }),
    ];
    expect(ours.stdout).toBe(theirs.stdout);
    expect(ours.stdout).toContain("kept   default");
  });

  it("T224 logs in with a password, and ends the token of that when it is forgotten", async () => {
    const words = ["login", terminal.server.url, "--user", "ada", "--password-stdin"];
    const login = await cairn(words, { stdin: "correct horse battery\n" });
    expect(login.stdout).toContain("as ada (user).");
    const { servers } = saved() as { servers: Record<string, { token: string }> };
    const made = servers[terminal.server.url]!.token;
    expect(made).not.toBe(token);
    const forgotten = await cairn(["login", "--forget"]);
    expect(forgotten.stdout).toBe(`Removed ${terminal.server.url}. Its token was revoked.\n`);
    expect(saved()).toEqual({ servers: {} });
    const env = { CAIRN_SERVER: terminal.server.url, CAIRN_TOKEN: made };
    expect((await cairn(["ls"], { env })).code).toBe(4);
  });

  it("T224 refuses a file that others may read, and replaces a broken one", async () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '{"servers": {}}', { mode: 0o644 });
    await promisify(execFile)("chmod", ["644", path]);
    const open = await cairn(["login", "--list"]);
    expect(open.code).toBe(1);
    expect(open.stderr).toContain(`fix it with \`chmod 600 ${path}\``);
    await promisify(execFile)("chmod", ["600", path]);
    writeFileSync(path, "not JSON");
    const login = await cairn(["login", terminal.server.url, "--token-stdin"], { stdin: token });
    expect(login.code).toBe(0);
    expect(login.stderr).toContain("it is not a login file");
    expect(saved()).toMatchObject({ default: terminal.server.url });
  });

  it("T224 asks in a terminal without showing what is typed", async () => {
    // A terminal of Python's own: what the program shows is all that is read from it.
    const program = [
      "import os, pty, sys",
      "pid, terminal = pty.fork()",
      "if pid == 0:",
      "    os.execv(sys.executable, [sys.executable, '-m', 'cairn', 'login', sys.argv[1]])",
      "shown = b''",
      "while b'not shown): ' not in shown: shown += os.read(terminal, 1000)",
      "os.write(terminal, sys.argv[2].encode() + b'\\n')",
      "try:",
      "    while True: shown += os.read(terminal, 1000)",
      "except OSError: pass",
      "sys.stdout.write(shown.decode())",
    ].join("\n");
    const env = { PATH: process.env["PATH"], HOME: home, PYTHONPATH: PACKAGE };
    const { stdout } = await promisify(execFile)(python(), ["-c", program, terminal.server.url, token], {
      env,
    });
    expect(stdout).toContain(`Token for ${terminal.server.url} (not shown): `);
    expect(stdout).toContain("as ada (user).");
    expect(stdout).not.toContain(token);
  });
});
