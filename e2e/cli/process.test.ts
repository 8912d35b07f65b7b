/** The program as a process: how it is started, what it ends with, and how signals and pipes end it. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { useTerminal } from "./testing/cairn.ts";
import { START, startCairn } from "./testing/start-cairn.ts";

describe("the program", () => {
  const terminal = useTerminal();
  const start = (words: readonly string[], stdin = "") =>
    startCairn(words, { env: { HOME: terminal.home, CAIRN_SERVER: terminal.server.url }, stdin });

  it.each([
    [["whoami"], 0, /^owner \(owner\) on http/, /^$/],
    [["--version"], 0, /^cairn {3}\d+\.\d+\.\d+ /, /^$/],
    [["lss"], 2, /^$/, /^cairn: unknown command "lss"\n {2}did you mean/],
    [["verify", "nothing-there"], 3, /^$/, /^cairn: cannot find run "nothing-there"/],
    [["whoami", "--server", "127.0.0.1:1"], 5, /^$/, /^cairn: cannot reach/],
  ])("T2 ends as %j should: %d", async (words, exitCode, output, errors) => {
    const { code, stdout, stderr } = await start(words);
    expect(stdout).toMatch(output);
    expect(stderr).toMatch(errors);
    expect(code).toBe(exitCode);
  });

  it("T2 exits with the code that a command sets, also without an error", async () => {
    const made = await start(["log", "piped", "--create", "--tag", "a=b", "--param", "lr=1"]);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const piped = await start(["log", "piped", "--katib-style"], "starting\nloss=0.5\n");
    expect(piped).toMatchObject({ code: 0, stdout: "starting\nloss=0.5\n" });
    await terminal.client.runs.createRun({ name: "other" });
    const { code, json } = await start(["diff", "piped", "other", "--exit-code", "--json"]);
    expect(json()).toMatchObject({ differs: true });
    expect(code).toBe(1);
  });

  it("T17 prints no error when its reader closes the pipe", async () => {
    for (let i = 0; i < 300; i++) {
      await terminal.client.namespaces.createNamespace({ path: `many/${"long-name-".repeat(20)}${i}` });
    }
    const command = `"$0" "$1" ns | head -n 1; echo "codes \${PIPESTATUS[*]}"`;
    const child = spawn("bash", ["--norc", "-c", command, process.execPath, START], {
      env: { PATH: process.env["PATH"], CAIRN_SERVER: terminal.server.url },
    });
    let said = "";
    child.stdout.on("data", (text) => (said += String(text)));
    child.stderr.on("data", (text) => (said += String(text)));
    await once(child, "close");
    expect(said).toMatch(/^\S+ .*\ncodes 0 0\n$/);
  });

  it("T17 exits with 130 on Ctrl-C, also while a server does not answer", async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket.on("error", () => {})));
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as { port: number };
    const child = spawn(process.execPath, [START, "whoami", "--server", `127.0.0.1:${port}`], {
      env: { PATH: process.env["PATH"] },
    });
    await once(silent, "connection");
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([130, null]);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it("T2 says how to get the right Node with one that is too old", async () => {
    const old = ["/usr/bin/node", "/usr/local/bin/node"].find((path) => existsSync(path) && isOld(path));
    if (old === undefined) {
      console.log("no older Node on this machine: only the check of `cairn doctor` is tested");
      return;
    }
    const child = spawn(old, [START, "ls"], { env: { PATH: process.env["PATH"] } });
    let said = "";
    child.stderr.on("data", (text) => (said += String(text)));
    const [code] = (await once(child, "close")) as [number];
    expect(said).toContain("cairn needs Node 24.14.1 or newer and is running on Node");
    expect(said).toContain("npx cairn");
    expect(code).toBe(1);
  });
});

function isOld(node: string): boolean {
  const version = execFileSync(node, ["-p", "process.versions.node"], { encoding: "utf8" });
  return Number(version.split(".")[0]) < 24;
}
