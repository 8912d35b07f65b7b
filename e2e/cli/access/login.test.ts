import { chmod, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { startServer } from "#server/testing/servers.ts";
import { runCairn, useTerminal, type RunOptions } from "../testing/cairn.ts";

describe("cairn login", () => {
  const terminal = useTerminal(["--data", "memory:", "--auth"]);
  const file = () => join(terminal.home, ".config", "cairn", "login.json");
  const cairn = (words: readonly string[], options: RunOptions = {}) =>
    runCairn(words, { ...options, env: { HOME: terminal.home, ...options.env } });
  const logIn = () => cairn(["login", terminal.server.url, "--token-stdin"], { stdin: terminal.adminToken });

  beforeAll(async () => {
    await terminal.client.access.createPrincipal({
      name: "ada",
      kind: PrincipalKind.USER,
      password: "correct horse battery",
    });
    await terminal.client.access.bindRole({
      principal: "ada",
      role: Role.WRITER,
      scope: { namespace: "langtech" },
    });
  });
  beforeEach(() => rm(join(terminal.home, ".config"), { recursive: true, force: true }));

  it("T6 stores a piped token, readable for this user only", async () => {
    const { code, stdout } = await logIn();
    expect(code).toBe(0);
    expect(stdout).toContain(`Logged in to ${terminal.server.url} as admin (user).`);
    expect(stdout).not.toContain(terminal.adminToken);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect((await cairn(["whoami"])).stdout).toContain("admin (user)");
  });

  it("T6 stores nothing when the server refuses the token", async () => {
    const { code, stderr } = await cairn(["login", terminal.server.url, "--token-stdin"], {
      stdin: `cairn_${"x".repeat(43)}\n`,
    });
    expect(code).toBe(4);
    expect(stderr).toContain("cairn: ");
    await expect(stat(file())).rejects.toThrow("ENOENT");
  });

  it("T6 logs in with a password, and --forget ends that token", async () => {
    const { stdout, code } = await cairn(
      ["login", terminal.server.url, "--user", "ada", "--password-stdin", "--json"],
      { stdin: "correct horse battery\n" },
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ name: "ada", token: { name: "log-in" } });
    const kept = JSON.parse(await readFile(file(), "utf8")) as {
      servers: Record<string, { token: string }>;
    };
    const { token } = kept.servers[terminal.server.url]!;
    const forgot = await cairn(["login", "--forget"]);
    expect(forgot.stdout).toBe(`Removed ${terminal.server.url}. Its token was revoked.\n`);
    const after = await runCairn(["whoami"], {
      env: { HOME: "/nowhere", CAIRN_SERVER: terminal.server.url, CAIRN_TOKEN: token },
    });
    expect(after.code).toBe(4);
  });

  it("T6 reports a wrong password", async () => {
    const { code, stderr } = await cairn(
      ["login", terminal.server.url, "--user", "ada", "--password-stdin"],
      { stdin: "no\n" },
    );
    expect(code).toBe(4);
    expect(stderr).toContain("cairn: ");
  });

  it.each([["--token", "cairn_secret"], ["--token=cairn_secret"], ["--token"]])(
    "T6 refuses %s on the command line and says why",
    async (...words) => {
      const { code, stderr } = await cairn(["login", terminal.server.url, ...words]);
      expect(code).toBe(2);
      expect(stderr).toContain("shell's history");
      expect(stderr).not.toContain("cairn_secret");
    },
  );

  it("T6 needs no token if the server requires none", async () => {
    const open = await startServer();
    try {
      const { stdout } = await cairn(["login", open.listening.url]);
      expect(stdout).toContain("as owner (owner).\nIt needs no token from this machine.");
      expect((await cairn(["whoami"])).stdout).toContain(`on ${open.listening.url}`);
    } finally {
      await open.close();
    }
  });

  it("T3 uses the server of the last login, unless CAIRN_SERVER or --server names another", async () => {
    const open = await startServer();
    const urlOf = async (words: string[], env: NodeJS.ProcessEnv = {}) => {
      const { stdout } = await cairn(["whoami", "--json", ...words], { env });
      return (JSON.parse(stdout) as { server: string }).server;
    };
    try {
      await cairn(["login", open.listening.url]);
      await logIn();
      expect(await urlOf([])).toBe(terminal.server.url);
      expect(await urlOf([], { CAIRN_SERVER: open.listening.url })).toBe(open.listening.url);
      expect(await urlOf(["--server", terminal.server.url], { CAIRN_SERVER: open.listening.url })).toBe(
        terminal.server.url,
      );
      const list = await cairn(["login", "--list"]);
      expect(list.stdout).toMatch(new RegExp(`${terminal.server.url} +kept +default`));
      expect(list.stdout).not.toContain("cairn_");
      await cairn(["login", "--forget", terminal.server.url]);
      expect((await cairn(["login", "--list", "--json"])).json()).toEqual([]);
    } finally {
      await open.close();
    }
  });

  it("T3 takes the token of CAIRN_TOKEN before that of the login", async () => {
    await logIn();
    const { secret } = await terminal.client.access.createToken({ principal: "ada", name: "t" });
    const { stdout } = await cairn(["whoami"], { env: { CAIRN_TOKEN: secret } });
    expect(stdout).toContain("ada (user)");
    await writeFile(join(terminal.home, "token"), `${secret}\n`);
    const fromFile = await cairn(["whoami"], { env: { CAIRN_TOKEN_FILE: join(terminal.home, "token") } });
    expect(fromFile.stdout).toContain("ada (user)");
  });

  it("T6 refuses a file that other users may read", async () => {
    await logIn();
    await chmod(file(), 0o644);
    const { code, stderr } = await cairn(["whoami"]);
    expect(code).toBe(1);
    expect(stderr).toContain(`chmod 600 ${file()}`);
  });

  it("T6 replaces an invalid login file, with a message", async () => {
    await mkdir(join(terminal.home, ".config", "cairn"), { recursive: true });
    await writeFile(file(), "{", { mode: 0o600 });
    expect((await cairn(["whoami"])).stderr).toContain("`cairn login` writes a new one");
    const { code, stderr } = await logIn();
    expect(stderr).toContain("it is not a login file");
    expect(code).toBe(0);
    expect((await cairn(["whoami"])).code).toBe(0);
  });

  it("T6 says what to do without a terminal, and forgets only known servers", async () => {
    const asked = await cairn(["login", terminal.server.url]);
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain("--token-stdin");
    expect(await cairn(["login", "--forget", "http://other.example"])).toMatchObject({ code: 3 });
  });

  it("T19 says what to do when the file cannot be written", async () => {
    const { code, stderr } = await runCairn(["login", terminal.server.url, "--token-stdin"], {
      env: { HOME: "/dev/null/home" },
      stdin: terminal.adminToken,
    });
    expect(code).toBe(1);
    expect(stderr).toContain("set CAIRN_SERVER and CAIRN_TOKEN instead");
  });
});
