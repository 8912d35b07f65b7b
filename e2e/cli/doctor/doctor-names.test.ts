import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { findProgram, pythonCommand } from "../../../tools/needs.ts";
import { useTerminal } from "../testing/cairn.ts";
import { START } from "../testing/start-cairn.ts";

interface Finding {
  check: string;
  level: string;
  text: string;
  fix?: string;
}

/** The name "cairn" belongs to other projects on npm and PyPI. */
describe("cairn doctor and the name cairn", () => {
  const terminal = useTerminal(["--data", "memory:"]);

  function folder(): string {
    const made = mkdtempSync(join(tmpdir(), "cairn-names-"));
    onTestFinished(() => rmSync(made, { recursive: true, force: true }));
    return made;
  }

  async function find(check: string, env: NodeJS.ProcessEnv): Promise<Finding | undefined> {
    const { stdout } = await terminal.cairn(["doctor", "--json"], { env });
    return (JSON.parse(stdout) as Finding[]).find((finding) => finding.check === check);
  }

  it("T255 warns of another program with the name cairn, and knows this one and that of the wheel", async () => {
    const [foreign, own] = [folder(), folder()];
    const program = (path: string, text: string) => {
      writeFileSync(path, text);
      chmodSync(path, 0o755);
    };
    program(join(foreign, "cairn"), "#!/bin/sh\necho another\n");
    symlinkSync(START, join(own, "cairn"));
    const found = await find("command", { PATH: [foreign, own].join(delimiter) });
    expect(found).toMatchObject({ level: "warn", fix: expect.stringContaining("PATH") as string });
    expect(found?.text).toContain(join(foreign, "cairn"));
    expect(await find("command", { PATH: [own, foreign].join(delimiter) })).toMatchObject({ level: "ok" });
    const wheel = folder();
    program(join(wheel, "cairn"), "#!/usr/bin/python3\nimport sys\nfrom cairn.command import main\n");
    expect(await find("command", { PATH: wheel })).toMatchObject({ level: "ok" });
    const published = folder();
    mkdirSync(join(published, "bin"));
    program(join(published, "bin", "cairn"), "#!/usr/bin/env node\n");
    writeFileSync(join(published, "package.json"), '{"name":"cairn","version":"9.0.0"}');
    expect(await find("command", { PATH: join(published, "bin") })).toMatchObject({ level: "warn" });
    writeFileSync(join(published, "package.json"), '{"name":"cairn-tracker"}');
    expect(await find("command", { PATH: join(published, "bin") })).toMatchObject({ level: "ok" });
    expect(await find("command", { PATH: folder() })).toBeUndefined();
  });

  it("T255 warns of the Python package cairn of others without importing it, and knows ours", async () => {
    const [bin, foreign] = [folder(), folder()];
    // By its path: the name alone would find this script again.
    const python = findProgram(pythonCommand()) ?? pythonCommand();
    writeFileSync(join(bin, "python3"), `#!/bin/sh\nexec ${JSON.stringify(python)} "$@"\n`);
    chmodSync(join(bin, "python3"), 0o755);
    const PATH = [bin, process.env["PATH"]].join(delimiter);
    mkdirSync(join(foreign, "cairn"));
    writeFileSync(
      join(foreign, "cairn", "__init__.py"),
      `open(${JSON.stringify(join(foreign, "ran"))}, "w")\n`,
    );
    const found = await find("python package", { PATH, PYTHONPATH: foreign });
    expect(found).toMatchObject({ level: "warn" });
    expect(found?.text).toContain(join(foreign, "cairn"));
    expect(found?.fix).toContain("cairn-tracker");
    expect(() => rmSync(join(foreign, "ran"))).toThrow("ENOENT");
    const ours = join(START, "..", "..", "sdk", "python");
    expect(await find("python package", { PATH, PYTHONPATH: ours })).toMatchObject({ level: "ok" });
    expect(await find("python package", { PATH: folder() })).toBeUndefined();
  });
});
