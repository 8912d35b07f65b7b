import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { useTerminal } from "../../cli/testing/cairn.ts";
import { PACKAGE } from "../python.ts";
import { pythonCairn, useHome } from "./python-cairn.ts";

interface Finding {
  check: string;
  level: "ok" | "warn" | "bad";
  text: string;
  fix?: string;
}

describe("cairn doctor of the Python package", () => {
  const terminal = useTerminal();
  const home = useHome();
  const doctor = async (env: NodeJS.ProcessEnv = {}) => {
    const ended = await pythonCairn(["doctor", "--json"], {
      env: { HOME: home, CAIRN_SERVER: terminal.server.url, ...env },
    });
    return { ...ended, findings: ended.json() as Finding[] };
  };
  const of = (findings: readonly Finding[], check: string) => findings.filter((each) => each.check === check);

  it("T229 finds nothing to complain about where everything is well", async () => {
    for (const env of [
      {},
      { LC_ALL: "C", LANG: "C" },
      { HTTP_PROXY: "http://127.0.0.1:9", https_proxy: "http://127.0.0.1:9", NO_PROXY: "" },
    ]) {
      const { code, stderr, findings } = await doctor(env);
      expect(findings.filter(({ level }) => level !== "ok")).toEqual([]);
      expect([code, stderr]).toEqual([0, ""]);
    }
    const text = await pythonCairn(["doctor"], { env: { HOME: home, CAIRN_SERVER: terminal.server.url } });
    expect(text.stdout).toContain('`cairn serve` needs pip install "cairn-tracker[server]"');
    expect(text.stdout).toMatch(/✓ clock +in sync with the server\n/);
    expect(text.stdout).toMatch(/\nNo problems found\.\n$/);
  });

  it("T229 a server that was not set is not missed; one that was set is", async () => {
    const fresh = await doctor({ CAIRN_SERVER: "", HOME: join(home, "fresh") });
    // Another server may run on the default port of this machine.
    if (of(fresh.findings, "server")[0]!.level !== "ok") {
      expect(fresh.code).toBe(0);
      expect(of(fresh.findings, "server")).toMatchObject([
        { level: "warn", fix: expect.stringContaining("cairn login") },
      ]);
    }
    const named = await doctor({ CAIRN_SERVER: "127.0.0.1:1" });
    expect(named.code).toBe(1);
    expect(of(named.findings, "server")).toMatchObject([{ level: "bad" }]);
  });

  it("T230 finds a foreign package and a foreign command of the name cairn", async () => {
    const [modules, programs] = [join(home, "modules"), join(home, "programs")];
    mkdirSync(join(modules, "cairn-9.0.dist-info"), { recursive: true });
    writeFileSync(
      join(modules, "cairn-9.0.dist-info", "METADATA"),
      "Metadata-Version: 2.1\nName: cairn\nVersion: 9.0\n",
    );
    mkdirSync(programs);
    const program = join(programs, "cairn");
    writeFileSync(program, "#!/bin/sh\necho stones\n");
    chmodSync(program, 0o755);
    const { code, findings } = await doctor({
      PYTHONPATH: [PACKAGE, modules].join(delimiter),
      PATH: [programs, process.env["PATH"]].join(delimiter),
    });
    expect(code).toBe(1);
    expect(of(findings, "package")).toMatchObject([
      {
        level: "bad",
        text: expect.stringContaining("`cairn` (9.0)"),
        fix: expect.stringContaining("pip uninstall"),
      },
    ]);
    expect(of(findings, "command")).toMatchObject([
      { level: "warn", text: expect.stringContaining(program) },
    ]);
    // Those of this package and of npm are not foreign.
    writeFileSync(
      program,
      "#!/usr/bin/python3\nimport sys\nfrom cairn.command import main\nsys.exit(main())\n",
    );
    const own = await doctor({ PATH: [programs, process.env["PATH"]].join(delimiter) });
    expect(of(own.findings, "command")).toEqual([]);
  });

  it("T229 finds a login file that others may read, and a token that is refused", async () => {
    const config = join(home, "open", "cairn");
    mkdirSync(config, { recursive: true });
    const path = join(config, "login.json");
    writeFileSync(path, '{"servers": {}}');
    chmodSync(path, 0o644);
    const { code, findings } = await doctor({ XDG_CONFIG_HOME: join(home, "open") });
    expect(code).toBe(1);
    expect(findings.filter(({ level }) => level === "bad")).toMatchObject([
      { check: "login file", fix: expect.stringContaining("chmod 600") },
    ]);
    const refused = await doctor({ CAIRN_TOKEN: "cairn_wrong" });
    expect(of(refused.findings, "credential")).toMatchObject([{ level: "bad" }]);
  });
});
