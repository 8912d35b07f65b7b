import { execFile, execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeForShell } from "#cli/completion/shell-line.ts";
import { runCairn, useTerminal } from "./cairn.ts";
import { runOnTerminal } from "./pty.ts";

const START = fileURLToPath(new URL("../../cli/start.js", import.meta.url));
const execute = promisify(execFile);
const HOSTILE = "$(touch pwned) `touch pwned`; touch pwned & 'x' \"y\" *";

function has(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;
}

describe("completion", () => {
  const terminal = useTerminal();
  let bin = "";
  const env = (): Record<string, string> => ({
    PATH: `${bin}:${process.env["PATH"]}`,
    HOME: terminal.home,
    CAIRN_SERVER: terminal.server.url,
    CAIRN_COMPLETION_MS: "60000",
  });

  beforeAll(async () => {
    bin = await mkdtemp(join(tmpdir(), "cairn-bin-"));
    await writeFile(join(bin, "cairn"), `#!/bin/sh\nexec "${process.execPath}" "${START}" "$@"\n`);
    await chmod(join(bin, "cairn"), 0o755);
    const { runs, metrics } = terminal.client;
    const { run } = await runs.createRun({
      namespace: "demo/mnist",
      name: "first",
      aliases: ["local://t/f1"],
    });
    const series = [
      { key: "train/loss", steps: [1n], values: [1] },
      { key: "train/acc", steps: [1n], values: [1] },
      { key: "val", steps: [1n], values: [1] },
    ];
    await metrics.writeEnvelope({ run: { id: run!.id }, series });
    for (const name of ["second run", HOSTILE, "evil\nline\u001b[2J", "50%_off"]) {
      await runs.createRun({ namespace: "demo/cifar", name });
    }
    const { run: gone } = await runs.createRun({ namespace: "demo/bin", name: "thrown" });
    await runs.deleteRun({ run: { id: gone!.id } });
    await terminal.client.access.createPrincipal({ name: "ada", kind: 1, displayName: "Ada" });
  });
  afterAll(() => rm(bin, { recursive: true }));

  /** What bash has in COMPREPLY after the real script was asked about the line. */
  const inBash = async (line: string): Promise<string[]> => {
    const script = `
      source <(cairn completion bash)
      COMP_LINE=$1 COMP_POINT=\${#1}
      COMP_WORDBREAKS=$' \\t\\n"\\'@><=;|&(:'
      _cairn
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    // Not in this very thread, where a connection that its server has closed meanwhile would not be noticed.
    const { stdout } = await execute("bash", ["--norc", "-c", script, "bash", line], {
      env: env(),
      cwd: bin,
    });
    return stdout.split("\n").filter((each) => each !== "");
  };
  const words = async (...typed: string[]) => {
    const { stdout } = await runCairn(["__complete", "words", ...typed], { env: env() });
    return stdout.split("\n").filter((line) => line !== "");
  };

  it.each([
    ["cairn ve", ["verify", "version"]],
    ["cairn access us", ["user"]],
    ["cairn access user d", ["disable"]],
    ["cairn token create --r", ["--role"]],
    ["cairn token create --role w", ["writer"]],
    ["cairn whoami --s", ["--server"]],
    ["cairn ns demo/m", ["demo/mnist"]],
    ["cairn verify -n demo/m", ["demo/mnist"]],
    ["cairn verify fi", ["first"]],
    ["cairn verify -n demo/cifar fi", []],
    ["cairn verify sec", ["second\\ run"]],
    ["cairn verify 'sec", ["second run"]],
    ["cairn verify 50%", ["50%_off"]],
    ["cairn verify local://t", ["//t/f1"]],
    ["cairn verify thr", []],
    ["cairn restore thr", ["thrown"]],
    ["cairn rm --purge thr", ["thrown"]],
    ["cairn plot first train/", ["train/acc", "train/loss"]],
    ["cairn access grant writer ad", ["ada"]],
    ["cairn access grant writer ada demo/c", ["demo/cifar"]],
    ["cairn completion f", ["fish"]],
    ["cairn nosuch ", []],
    ["cairn serve --dat", ["--data"]],
    ["true; X=1 cairn ve", ["verify", "version"]],
  ])("T15 completes %j in bash", async (line, expected) => {
    expect((await inBash(line)).sort()).toEqual(expected);
  });

  it("T15 completes the beginning of an id", async () => {
    const { runs } = await terminal.client.runs.searchRuns({ query: 'name = "first"' });
    const { id } = runs[0]!;
    expect(await inBash(`cairn verify ${id.slice(0, 24)}`)).toEqual([id]);
  });

  it("T15 hands over to bash where a file is meant", () => {
    expect(
      execFileSync("bash", ["--norc", "-c", "cairn __complete bash 'cairn serve --config '"], {
        env: env(),
      }).toString(),
    ).toBe(":files\n");
  });

  it("T15 never evaluates a name: it comes back as it is", async () => {
    const [candidate] = await inBash("cairn verify \\$");
    expect(existsSync(join(bin, "pwned"))).toBe(false);
    const said = execFileSync("bash", ["--norc", "-c", `printf %s ${candidate}`], {
      cwd: bin,
      encoding: "utf8",
    });
    expect(said).toBe(HOSTILE);
    expect(existsSync(join(bin, "pwned"))).toBe(false);
  });

  it("T16 leaves out names that could control the terminal", async () => {
    expect(await inBash("cairn verify ev")).toEqual([]);
  });

  it("T15 writes any name so that bash reads the same", () => {
    const name = fc.string({
      unit: fc.constantFrom(..."ab $`\"'\\!*?[]{}()<>|&;#~=:%@^,.é日-_".split("")),
      minLength: 1,
    });
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 40 }), (names) => {
        const written = names.map((each) => writeForShell(each, "")).join(" ");
        const said = execFileSync("bash", ["--norc", "-c", `printf '%s\\n' ${written}`], {
          encoding: "utf8",
        });
        expect(said).toBe(`${names.join("\n")}\n`);
      }),
      { numRuns: 60 },
    );
  });

  it("T15 says what a candidate is to shells that show it", async () => {
    expect(await words("verify", "fi")).toEqual([expect.stringMatching(/^first\trunning, demo\/mnist, /)]);
    expect(await words("ve")).toContain("version\tversions of this program and of the server");
  });

  it("T15 asks the server that the line names", async () => {
    const { stdout } = await runCairn(
      ["__complete", "words", "--server", terminal.server.url, "verify", "fi"],
      {
        env: { ...env(), CAIRN_SERVER: "127.0.0.1:1" },
      },
    );
    expect(stdout).toMatch(/^first\t/);
  });

  it("T15 says nothing when the server is away or does not answer, and does not wait for it", async () => {
    const begunMs = performance.now();
    const away = await runCairn(["__complete", "words", "verify", ""], {
      env: { CAIRN_SERVER: "127.0.0.1:1" },
    });
    const awayMs = performance.now() - begunMs;
    expect(away).toMatchObject({ code: 0, stdout: "", stderr: "" });
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket.on("error", () => {})));
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const started = performance.now();
    const slow = await runCairn(["__complete", "words", "verify", ""], {
      env: { CAIRN_SERVER: `127.0.0.1:${port}` },
    });
    expect(slow).toMatchObject({ code: 0, stdout: "", stderr: "" });
    // A second for the server, and what this machine takes to start a process while others work on it.
    expect(performance.now() - started).toBeLessThan(3_000 + 4 * awayMs);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it("T15 works when a person presses tab in bash", async () => {
    const rc = join(bin, "rc");
    await writeFile(rc, "PS1='ready> '\nbind 'set bell-style none'\nsource <(cairn completion bash)\n");
    const pty = runOnTerminal(`bash --noprofile --rcfile ${rc} -i`, { ...env(), SHELL: "/bin/bash" });
    await pty.shows("ready> ");
    pty.type("echo start; cairn verify sec\t");
    await pty.shows("cairn verify second\\ run");
    pty.type("\recho the-end\rexit\r");
    await pty.shows("0 of 0 envelopes");
    await pty.ended;
  });

  it.runIf(has("zsh"))("T15 is a script that zsh can read", () => {
    const { status, stderr } = spawnSync(
      "zsh",
      ["-fc", "autoload -U compinit; compinit -u; source <(cairn completion zsh)"],
      {
        env: env(),
        encoding: "utf8",
      },
    );
    expect([status, stderr]).toEqual([0, ""]);
  });

  it.runIf(has("fish"))("T15 completes in fish", () => {
    const { stdout } = spawnSync(
      "fish",
      ["-c", "cairn completion fish | source; complete -C 'cairn verify fi'"],
      {
        env: env(),
        encoding: "utf8",
      },
    );
    expect(stdout).toMatch(/^first\t/);
  });
});
