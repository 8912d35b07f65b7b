import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "#server/testing/servers.ts";
import { Cairn } from "#sdk/client.ts";
import { runCairn, useTerminal, type RunOptions } from "../testing/cairn.ts";

const folder = mkdtempSync(join(tmpdir(), "cairn-audit-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe("cairn access audit", () => {
  const terminal = useTerminal(["--data", "memory:", "--auth"]);
  const cairn = (words: readonly string[], options: RunOptions = {}) =>
    terminal.cairn(words, { ...options, env: { CAIRN_TOKEN: terminal.adminToken, ...options.env } });
  const audit = (...words: string[]) => cairn(["access", "audit", ...words]);
  let exported = "";
  let head = "";

  beforeAll(async () => {
    for (const path of ["a", "b", "ü"]) await terminal.client.namespaces.createNamespace({ path });
    exported = (await audit("export")).stdout;
    head = (await audit("head")).stdout;
  });

  it("A37 T8 shows token and address of every entry", async () => {
    const entries = (await audit("--json")).json() as Record<string, string>[];
    const [newest] = entries;
    expect(newest).toMatchObject({ principal: "admin", action: "create-namespace", target: "ü" });
    expect(newest!["address"]).toMatch(/127\.0\.0\.1$/);
    expect(newest!["token"]).toMatch(/^[0-9a-f]{32}$/);
    expect((await audit()).stdout).toContain(newest!["token"]!.slice(0, 16));
  });

  it("A40 S22 T8 exports every entry as a line, and from a number on", async () => {
    const lines = exported.trimEnd().split("\n");
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const first = ["bootstrap", "create-token", "revoke-token"];
    expect(entries.map(({ action }) => action)).toEqual([...first, ...Array(3).fill("create-namespace")]);
    expect(Object.keys(entries[0]!)).toEqual([
      "number",
      "time_us",
      "principal",
      "token",
      "address",
      "action",
      "target",
      "facts",
      "hash",
    ]);
    expect((await audit("export", "--since", "2")).stdout).toBe(`${lines.slice(2).join("\n")}\n`);
  });

  it("A40 S22 T8 verifies an exported file without a server, with and without a head", async () => {
    const file = write("audit.jsonl", exported);
    const offline = (...words: string[]) => runCairn(["access", "audit", "verify", ...words]);
    expect(await offline(file)).toMatchObject({
      code: 0,
      stdout: "The file is intact: entries 1 to 6, none altered or removed.\n",
    });
    expect(await offline(file, "--head", write("head.json", head))).toMatchObject({ code: 0 });
    const lines = exported.trimEnd().split("\n");
    for (const [what, broken, problem] of [
      ["altered", exported.replace('"admin","token"', '"eve","token"'), "entry 2 was altered"],
      ["removed", lines.toSpliced(1, 1).join("\n"), "entry 2 is missing"],
      ["moved", [lines[1], lines[0]].join("\n"), "entry 1 comes after entry 2"],
      ["nonsense", `${exported}{}`, "line 7 is not an entry of an audit"],
      ["empty", "", "the file has no entries"],
    ] as const) {
      const { code, stdout } = await offline(write(`${what}.jsonl`, broken));
      expect(stdout, what).toContain(problem);
      expect(code, what).toBe(1);
    }
    const cut = await offline(
      write("cut.jsonl", lines.slice(0, 5).join("\n")),
      "--head",
      join(folder, "head.json"),
    );
    expect(cut).toMatchObject({ code: 1, stdout: "entry 6, which the head names, is not in the file\n" });
    const part = await offline(write("part.jsonl", lines.slice(2).join("\n")), "--json");
    expect(part.json()).toEqual({ ok: true, first: 3, last: 6, problems: [] });
    expect(await offline(join(folder, "none.jsonl"))).toMatchObject({ code: 3 });
  });

  it("A40 S22 T8 checks a head against the server, and refuses an invalid signature", async () => {
    const file = write("kept.json", head);
    await terminal.client.namespaces.createNamespace({ path: "later" });
    const { code, stdout } = await audit("check", file);
    expect(stdout).toContain("The audit still holds entry 6 as it was signed");
    expect(code).toBe(0);
    const forged = write("forged.json", head.replace('"count":6', '"count":5'));
    const refused = await audit("check", forged);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain("its signature is invalid");
  });
});

describe("an audit that was written again", () => {
  it("A40 S22 is valid on its own, and a head stored elsewhere reveals it", async () => {
    const data = join(folder, "data");
    const first = await startServer(["--data", data]);
    const env = { CAIRN_SERVER: first.listening.url };
    const cairn = new Cairn({ url: first.listening.url });
    for (const path of ["a", "b", "c"]) await cairn.namespaces.createNamespace({ path });
    const kept = write("before.json", (await runCairn(["access", "audit", "head"], { env })).stdout);
    await first.close();
    // As with write access to the file: the last entry and its trace are gone.
    const db = new DatabaseSync(join(data, "cairn.db"));
    for (const { name } of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all()) {
      if (String(name).startsWith("audit")) db.exec(`DROP TRIGGER ${String(name)}`);
    }
    db.exec("DELETE FROM audit WHERE number = 3");
    db.exec("UPDATE audit_head SET count = 2, hash = (SELECT hash FROM audit WHERE number = 2)");
    db.close();
    const second = await startServer(["--data", data]);
    try {
      const again = { env: { CAIRN_SERVER: second.listening.url } };
      expect(await runCairn(["access", "verify-audit"], again)).toMatchObject({ code: 0 });
      const cut = await runCairn(["access", "audit", "check", kept], again);
      expect(cut.stdout).toContain("The audit has 2 entries, but entry 3 was signed: its end was cut off.");
      expect(cut.code).toBe(1);
      await new Cairn({ url: second.listening.url }).namespaces.createNamespace({ path: "d" });
      const other = await runCairn(["access", "audit", "check", kept, "--json"], again);
      expect(other.json()).toMatchObject({ ok: false, sameServer: true, entries: 3 });
      expect(other.code).toBe(1);
    } finally {
      await second.close();
    }
  });
});

describe("cairn artifacts restore, purge", () => {
  const terminal = useTerminal();

  it("A39 lists replaced versions with their authors, and restores one", async () => {
    const { run } = await terminal.client.runs.createRun({ name: "one" });
    const put = (text: string) => terminal.cairn(["artifacts", "put", "one", write("model.pt", text)]);
    await put("first");
    await put("second");
    const ls = (...words: string[]) => terminal.cairn(["artifacts", "ls", "one", ...words]);
    expect((await ls()).stdout).toMatch(/model\.pt .* owner /);
    const { artifacts } = (await ls("--replaced", "--json")).json() as {
      artifacts: { version: number; createdBy: string; replacedBy: string }[];
    };
    expect(artifacts).toMatchObject([{ createdBy: "owner", replacedBy: "owner" }]);
    const version = String(artifacts[0]!.version);
    expect((await ls("--replaced")).stdout).toContain("VERSION");
    const back = await terminal.cairn(["artifacts", "restore", "one", "model.pt", version]);
    expect(back.stdout).toBe(`Restored version ${version} of model.pt, by owner.\n`);
    const got = await terminal.client.fetch(`/artifacts/${run!.id}/model.pt`);
    expect(await got.text()).toBe("first");
    const purged = await terminal.cairn(["artifacts", "purge", "one"]);
    expect(purged.stdout).toBe("Destroyed 1 version.\n");
    expect((await ls("--replaced")).stderr).toContain("has no such artifacts");
    expect(await terminal.cairn(["artifacts", "restore", "one", "model.pt", version])).toMatchObject({
      code: 3,
    });
  });
});
