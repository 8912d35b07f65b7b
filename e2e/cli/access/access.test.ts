import { beforeAll, describe, expect, it } from "vitest";
import { useTerminal, type RunOptions } from "../testing/cairn.ts";

const SECRET = /^cairn_[\w-]{43}\n$/;

describe("cairn token, cairn access", () => {
  const terminal = useTerminal(["--data", "memory:", "--auth"]);
  const cairn = (words: readonly string[], options: RunOptions = {}) =>
    terminal.cairn(words, { ...options, env: { CAIRN_TOKEN: terminal.adminToken, ...options.env } });
  const as = (token: string, ...words: string[]) => cairn(words, { env: { CAIRN_TOKEN: token.trim() } });
  let ada = "";

  beforeAll(async () => {
    for (const words of [
      ["access", "user", "add", "ada", "--display", "Ada Lovelace"],
      ["access", "group", "add", "asr"],
      ["access", "group", "join", "asr", "ada"],
      ["ns", "create", "langtech/asr"],
      ["access", "grant", "writer", "asr", "langtech/asr"],
    ]) {
      expect(await cairn(words)).toMatchObject({ code: 0, stderr: "" });
    }
    ada = (await cairn(["token", "create", "ada-1", "--for", "ada"])).stdout;
  });

  it("T7 prints the secret alone, and says on standard error that it is the only time", async () => {
    const words = "token create cluster --role viewer --in langtech/asr --days 30".split(" ");
    const { stdout, stderr, code } = await as(ada, ...words);
    expect(code).toBe(0);
    expect(stdout).toMatch(SECRET);
    expect(stderr).toContain("shown only once");
    expect(stderr).toContain("expires in 30d");
    expect((await as(stdout, "whoami")).stdout).toContain(
      'by token "cluster", at most viewer, only in langtech/asr, expires in 30d',
    );
    expect(await as(stdout, "ns", "create", "langtech/asr/no")).toMatchObject({ code: 4 });
    expect(await as(ada, "ns", "create", "langtech/asr/yes")).toMatchObject({ code: 0 });
  });

  it("T7 lists tokens without their secrets and revokes one by name or by its id", async () => {
    const secret = (await as(ada, "token", "create", "short", "--days", "1")).stdout;
    const list = await as(ada, "token", "ls", "--json");
    expect(list.stdout).not.toContain(secret.trim().slice(6));
    const tokens = list.json() as { id: string; name: string }[];
    const found = tokens.find(({ name }) => name === "short")!;
    expect((await as(ada, "token", "ls")).stdout).toMatch(/short +ada +everywhere +in 1d +never/);
    expect(await as(secret, "whoami")).toMatchObject({ code: 0 });
    const revoked = await as(ada, "token", "revoke", found.id.slice(0, 20));
    expect(revoked.stdout).toBe(`Revoked ${found.id.slice(0, 16)} "short".\n`);
    expect(await as(secret, "whoami")).toMatchObject({ code: 4 });
    const again = await as(ada, "token", "revoke", "short");
    expect(again).toMatchObject({ code: 3 });
    expect(again.stderr).toContain('cannot find token "short"');
  });

  it("T7 revokes nothing when one of the names is ambiguous", async () => {
    for (const _ of [1, 2]) await as(ada, "token", "create", "double");
    await as(ada, "token", "create", "single");
    const { code, stderr } = await as(ada, "token", "revoke", "single", "double");
    expect(code).toBe(2);
    expect(stderr).toContain('cannot choose a token for "double"');
    expect((await as(ada, "token", "ls")).stdout).toContain("single");
  });

  it.each([
    [["token", "create", "--days", "0"], "expected a whole number from 1 to 3650"],
    [["token", "create", "--role", "king"], "must be one of viewer, writer, maintainer, admin"],
    [["access", "grant", "king", "ada", "/"], "must be one of viewer, writer, maintainer, admin"],
  ])("T2 refuses %j", async (words, cause) => {
    const { code, stderr } = await cairn(words);
    expect(stderr).toContain(cause);
    expect(code).toBe(2);
  });

  it("T1 says who the caller is, in which groups, and by what token", async () => {
    const { stdout, code } = await as(ada, "whoami");
    expect(code).toBe(0);
    expect(stdout).toContain("ada (user) on http://");
    expect(stdout).toContain("  in asr\n");
    expect(stdout).toContain("  writer of langtech/asr through asr\n");
    const anonymous = await terminal.cairn(["whoami", "--json"]);
    expect(anonymous.json()).toMatchObject({ kind: "anonymous", token: null });
    expect(anonymous.code).toBe(4);
  });

  it("T8 closes a scope, explains who lost access and why, and opens it again", async () => {
    await cairn(["ns", "create", "langtech/asr/medical"]);
    await cairn(["access", "close", "langtech/asr/medical"]);
    const explained = await cairn(["access", "explain", "ada", "langtech/asr/medical"]);
    expect(explained.stdout).toContain('"ada" may do nothing');
    expect(explained.stdout).toContain(
      "- writer of langtech/asr through asr is cut off by langtech/asr/medical, which is closed",
    );
    expect(await as(ada, "ns", "langtech/asr/medical")).toMatchObject({ code: 3 });
    expect((await cairn(["access", "show", "langtech/asr/medical"])).stdout).toContain("is closed.");
    await cairn(["access", "open", "langtech/asr/medical"]);
    expect(await as(ada, "ns", "langtech/asr/medical")).toMatchObject({ code: 0 });
    const json = (await cairn(["access", "explain", "ada", "langtech/asr/medical", "--json"])).json();
    expect(json).toMatchObject({ role: "writer", reasons: [{ through: "asr", counts: true }] });
  });

  it("T8 grants and revokes on a run and on one of its artifacts", async () => {
    const { run } = await terminal.client.runs.createRun({ namespace: "secret", name: "one" });
    expect(await as(ada, "verify", "one")).toMatchObject({ code: 3 });
    const granted = await cairn(["access", "grant", "viewer", "ada", "run:one"]);
    expect(granted.stdout).toBe(`ada is now viewer of run:${run!.id}.\n`);
    expect(await as(ada, "verify", "one")).toMatchObject({ code: 0 });
    await cairn(["access", "revoke", "ada", "run:one"]);
    expect(await as(ada, "verify", "one")).toMatchObject({ code: 3 });
    const part = await cairn(["access", "grant", "viewer", "ada", "run:one", "--artifact", "model.pt"]);
    expect(part.stdout).toContain(`artifact model.pt of run:${run!.id}`);
    const wrong = await cairn(["access", "grant", "viewer", "ada", "secret", "--artifact", "model.pt"]);
    expect(wrong).toMatchObject({ code: 2 });
  });

  it("T254 a command that makes a user says what is missing, or gives a role at once", async () => {
    const bare = await cairn(["access", "user", "add", "carl"]);
    expect(bare.stdout).toBe(
      "Added user carl.\n" +
        "It has no role of its own yet, so it may see nothing: `cairn access grant writer carl NAMESPACE` gives one.\n" +
        "To log in it needs a token: `cairn token create --for carl`.\n",
    );
    const words = ["access", "user", "add", "dora", "--password-stdin", "--role", "viewer"];
    const options = { stdin: "correct horse battery\n" };
    const given = await cairn([...words, "--in", "langtech/asr"], options);
    expect(given.stdout).toBe("Added user dora.\nIt is viewer of langtech/asr.\n");
    expect((await cairn(["access", "explain", "dora", "langtech/asr"])).stdout).toContain("is viewer");
    const half = await cairn(words.with(3, "emil"), options);
    expect(half).toMatchObject({ code: 2 });
    expect(half.stderr).toContain("--role writer --in langtech/asr");
    expect((await cairn(["access", "user", "ls"])).stdout).not.toContain("emil");
    const json = ["access", "user", "add", "fred", "--role", "admin", "--in", "/", "--json"];
    expect((await cairn(json)).json()).toMatchObject({ name: "fred", role: { role: "admin", scope: "/" } });
  });

  it("T254 whoami and login say that a user has no role, and whom to ask", async () => {
    await cairn(["access", "user", "add", "noor"]);
    const secret = (await cairn(["token", "create", "--for", "noor"])).stdout;
    const { stdout, code } = await as(secret, "whoami");
    expect(code).toBe(0);
    expect(stdout).toContain("You have no role on this server yet");
    expect(stdout).toContain(
      "Ask an administrator of it for one: `cairn access grant writer noor NAMESPACE`",
    );
    const login = await terminal.cairn(["login", terminal.server.url, "--token-stdin"], { stdin: secret });
    expect(login.stdout).toContain("You have no role on this server yet");
    expect((await as(ada, "whoami")).stdout).not.toContain("no role");
  });

  it("T251 without a token a message says how to log in at this server, and names no header", async () => {
    for (const words of [["ls"], ["whoami"], ["show", "any"], ["ns", "create", "x"], ["log", "a", "b=1"]]) {
      const { code, stderr } = await terminal.cairn(words, { env: { HOME: "/nowhere" } });
      expect(code, words.join(" ")).toBe(4);
      expect(stderr).toContain(`cairn login ${terminal.server.url}`);
      expect(stderr).toContain("CAIRN_TOKEN");
      expect(stderr).not.toContain("authorization");
    }
    const denied = await as(ada, "log", "x", "--create", "-n", "vision", "a=1");
    expect(denied).toMatchObject({ code: 4 });
    expect(denied.stderr).toContain('in namespace "vision": permission denied');
    expect(denied.stderr).toContain("`cairn whoami` shows the roles");
    const wrong = await as(`cairn_${"w".repeat(43)}`, "ls");
    expect(wrong).toMatchObject({ code: 4 });
    expect(wrong.stderr).toContain("CAIRN_TOKEN");
    expect(wrong.stderr).toContain(`cairn login ${terminal.server.url}`);
    expect(wrong.stderr).not.toContain("authorization");
  });

  it("T8 accepts the root only by its name", async () => {
    const empty = await cairn(["access", "grant", "viewer", "ada", ""]);
    expect(empty).toMatchObject({ code: 2 });
    expect(empty.stderr).toContain("write `/` for everything");
    expect((await cairn(["access", "explain", "ada", "/"])).stdout).toContain("may do nothing");
    await cairn(["access", "grant", "viewer", "ada", "/"]);
    expect((await cairn(["access", "explain", "ada", "/"])).stdout).toContain("is viewer of the root");
    await cairn(["access", "revoke", "ada", "/"]);
  });

  it("T8 disables and enables a user, ends a membership, lists both kinds", async () => {
    await cairn(["access", "user", "add", "eve", "--service"]);
    const secret = (await cairn(["token", "create", "--for", "eve"])).stdout;
    expect(await as(secret, "whoami")).toMatchObject({ code: 0 });
    await cairn(["access", "user", "disable", "eve"]);
    expect(await as(secret, "whoami")).toMatchObject({ code: 4 });
    await cairn(["access", "user", "enable", "eve"]);
    expect(await as(secret, "whoami")).toMatchObject({ code: 0 });
    expect((await cairn(["access", "user", "ls"])).stdout).toMatch(/ada +user +Ada Lovelace +asr/);
    await cairn(["access", "group", "add", "night"]);
    await cairn(["access", "group", "join", "night", "eve", "ada"]);
    await cairn(["access", "group", "leave", "night", "ada"]);
    const groups = (await cairn(["access", "group", "ls", "--json"])).json();
    expect(groups).toContainEqual(expect.objectContaining({ name: "night", members: ["eve"] }));
  });

  it("T8 changes the own password with the old one, and requires it to make a token after a login", async () => {
    const [before, after] = ["correct horse battery", "another sentence"];
    const made = await cairn(["access", "user", "add", "pia", "--password-stdin"], { stdin: `${before}\n` });
    expect(made).toMatchObject({ code: 0 });
    await cairn(["access", "grant", "viewer", "pia", "/"]);
    const { access } = terminal.client;
    const { secret } = await access.logIn({ name: "pia", password: before });
    const env = { CAIRN_TOKEN: secret };
    const refused = await cairn(["token", "create", "job"], { env });
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain("your password is required");
    const job = await cairn(["token", "create", "job", "--password-stdin"], { env, stdin: `${before}\n` });
    expect(job.stdout).toMatch(SECRET);

    const wrong = await cairn(["password", "--password-stdin"], { env, stdin: `wrong\n${after}\n` });
    expect(wrong).toMatchObject({ code: 4 });
    expect(wrong.stderr).toContain("your password is wrong");
    const changed = await cairn(["password", "--password-stdin", "--json"], {
      env,
      stdin: `${before}\n${after}\n`,
    });
    expect(changed.json()).toEqual({ server: terminal.server.url, name: "pia", changed: true });
    expect(await as(job.stdout, "whoami")).toMatchObject({ code: 4 });
    expect(await as(secret, "whoami")).toMatchObject({ code: 0 });
    await expect(access.logIn({ name: "pia", password: after })).resolves.toBeDefined();

    await cairn(["access", "grant", "admin", "pia", "/"]);
    const add = ["access", "user", "add", "zoe", "--password-stdin"];
    const alone = await cairn(add, { env, stdin: `${before}\n` });
    expect(alone.stderr).toContain("cannot give a password with a login alone: your password is required");
  });

  it("T10 removes a user only after confirmation", async () => {
    await cairn(["access", "user", "add", "tom"]);
    const refused = await cairn(["access", "user", "rm", "tom"]);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain("add --yes");
    expect((await cairn(["access", "user", "ls"])).stdout).toContain("tom");
    expect(await cairn(["access", "user", "rm", "tom", "--yes"])).toMatchObject({ code: 0 });
    expect((await cairn(["access", "user", "ls"])).stdout).not.toContain("tom");
  });

  it("T8 shows the audit, whole", async () => {
    const { stdout } = await cairn(["access", "audit", "--action", "create-principal", "--limit", "2"]);
    expect(stdout.trim().split("\n")).toHaveLength(3);
    const all = (await cairn(["access", "audit", "--json"])).json() as { action: string; number: number }[];
    expect(all.map(({ action }) => action)).toContain("close-scope");
    const { stdout: verdict, code } = await cairn(["access", "verify-audit"]);
    expect(verdict).toMatch(/^The audit is intact: \d+ entries/);
    expect(code).toBe(0);
  });

  it("T2 exits with 4 without permission", async () => {
    const { code, stderr } = await as(ada, "access", "user", "add", "mallory");
    expect(code).toBe(4);
    expect(stderr).toMatch(/^cairn: cannot /);
  });
});
