import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeForShell } from "#cli/completion/shell-line.ts";
import { runCairn } from "./testing/cairn.ts";
import { HOSTILE, useCompletionServer } from "./testing/completion-server.ts";

const execute = promisify(execFile);
/** Of bash with @ and : in it, as most systems have it. */
const WORD_BREAKS = " \t\n\"'@><=;|&(:";

describe("completion", () => {
  const { terminal, bin, env } = useCompletionServer();

  /** What bash has in COMPREPLY after the real script was asked about each line. */
  const inBash = async (...lines: string[]): Promise<string[][]> => {
    const script = `
      source <(cairn completion bash)
      COMP_WORDBREAKS=$' \\t\\n"\\'@><=;|&(:'
      for line in "$@"; do
        COMP_LINE=$line COMP_POINT=\${#line}
        _cairn
        printf '%s\\n' "\${COMPREPLY[@]}" ';;'
      done`;
    const { stdout } = await execute("bash", ["--norc", "-c", script, "bash", ...lines], {
      env: env(),
      cwd: bin,
    });
    const answers = stdout.split(";;\n").slice(0, -1);
    return answers.map((answer) => answer.split("\n").filter((each) => each !== ""));
  };
  const complete = async (...request: string[]): Promise<string[]> => {
    const { stdout } = await runCairn(["__complete", ...request], { env: env() });
    return stdout.split("\n").filter((line) => line !== "");
  };
  const forBash = (line: string) => complete("bash", line, WORD_BREAKS);

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
    ["cairn mv first demo/c", ["demo/cifar"]],
    ["cairn plot first train/", ["train/acc", "train/loss"]],
    ["cairn access grant writer ad", ["ada"]],
    ["cairn access grant writer ada demo/c", ["demo/cifar"]],
    ["cairn completion f", ["fish"]],
    ["cairn nosuch ", []],
    ["cairn serve --dat", ["--data"]],
    ["cairn ls --columns name,tr", ["name,training_data"]],
    ["cairn ls --sort stu", ["study"]],
    ["cairn log first --clear tr", ["training-data"]],
    ["true; X=1 cairn ve", ["verify", "version"]],
  ])("T15 completes %j", async (line, expected) => {
    expect((await forBash(line)).sort()).toEqual(expected);
  });

  it("T15 completes the beginning of an id", async () => {
    const { runs } = await terminal.client.runs.searchRuns({ query: 'name = "first"' });
    const { id } = runs[0]!;
    expect(await forBash(`cairn verify ${id.slice(0, 24)}`)).toEqual([id]);
  });

  it("T15 lets the shell complete files", async () => {
    expect(await forBash("cairn serve --config ")).toEqual([":files"]);
  });

  it("T15 completes in bash", async () => {
    const lines = ["cairn ve", "cairn verify sec", "cairn verify 'sec", "cairn verify local://t"];
    expect(await inBash(...lines, "cairn nosuch ", "cairn serve --config ")).toEqual([
      ["verify", "version"],
      ["second\\ run"],
      ["second run"],
      ["//t/f1"],
      [],
      [],
    ]);
  });

  it("T15 never evaluates a name: it is returned unchanged", async () => {
    const [[candidate]] = (await inBash("cairn verify \\$")) as [[string]];
    expect(existsSync(join(bin, "pwned"))).toBe(false);
    const said = execFileSync("bash", ["--norc", "-c", `printf %s ${candidate}`], {
      cwd: bin,
      encoding: "utf8",
    });
    expect(said).toBe(HOSTILE);
    expect(existsSync(join(bin, "pwned"))).toBe(false);
  });

  it("T16 leaves out names that could control the terminal", async () => {
    expect(await forBash("cairn verify ev")).toEqual([]);
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

  it("T15 describes candidates for shells that show descriptions", async () => {
    expect(await complete("words", "verify", "fi")).toEqual([
      expect.stringMatching(/^first\trunning, demo\/mnist, /),
    ]);
    expect(await complete("words", "ve")).toContain("version\tversions of this program and of the server");
  });

  it("T15 uses the server that the line names", async () => {
    const { stdout } = await runCairn(
      ["__complete", "words", "--server", terminal.server.url, "verify", "fi"],
      {
        env: { ...env(), CAIRN_SERVER: "127.0.0.1:1" },
      },
    );
    expect(stdout).toMatch(/^first\t/);
  });

  it("T15 prints nothing when the server is unreachable or does not answer in time", async () => {
    const nothing = { code: 0, stdout: "", stderr: "" };
    const away = { CAIRN_SERVER: "127.0.0.1:1" };
    expect(await runCairn(["__complete", "words", "verify", ""], { env: away })).toMatchObject(nothing);
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket.on("error", () => {})));
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const slow = { CAIRN_SERVER: `127.0.0.1:${port}` };
    expect(await runCairn(["__complete", "words", "verify", ""], { env: slow })).toMatchObject(nothing);
    expect(sockets.length).toBeGreaterThan(0);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});
