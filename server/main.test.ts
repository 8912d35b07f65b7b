import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { startChild } from "./testing/child.ts";
import { makeFolder } from "./testing/servers.ts";

const START = fileURLToPath(new URL("start.js", import.meta.url));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function run(argv: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [START, ...argv], { env, timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

function folderForTest(): string {
  const folder = makeFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe("the command", () => {
  it("B4 prints help and version, and starts nothing", async () => {
    const help = await run(["--help"]);
    expect([help.code, help.stderr]).toEqual([0, ""]);
    expect(help.stdout).toContain("--data");
    const version = await run(["--version"]);
    expect(version.stdout).toMatch(/\d+\.\d+\.\d+/);
  });

  it("B4 names a wrong setting with its value and origin, on one line and without a stack", async () => {
    const wrong = await run(["--port", "70000"]);
    expect([wrong.code, wrong.stdout]).toEqual([1, ""]);
    expect(wrong.stderr).toContain('cairn: cannot use --port with "70000"');
    expect(wrong.stderr).not.toContain("    at ");
    const variable = await run([], { ...process.env, CAIRN_DATA: "memory:", CAIRN_LOG_LEVEL: "loud" });
    expect(variable.stderr).toContain("CAIRN_LOG_LEVEL");
  });

  it("says when the port is taken", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const ended = await run(["--data", "memory:", "--port", String(port)]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(`${port}`);
    expect(ended.stderr).not.toContain("    at ");
  });

  it("D7 a second process on the same folder is refused and told so", async () => {
    const folder = folderForTest();
    const first = await startChild(["--data", folder]);
    onTestFinished(() => void first.child.kill("SIGKILL"));
    const second = await run(["--data", folder, "--port", "0"]);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain("another Cairn process uses it");
    first.child.kill("SIGKILL");
    await first.exited;
    // What a killed process held is free again.
    const third = await startChild(["--data", folder]);
    third.child.kill("SIGTERM");
    expect((await third.exited).code).toBe(0);
    expect(third.greeting.join("\n")).not.toContain("WARNING");
  });

  it("a folder that is a file, and a certificate that is none, are named", async () => {
    const folder = folderForTest();
    writeFileSync(join(folder, "file"), "", { mode: 0o600 });
    const ended = await run(["--data", join(folder, "file"), "--port", "0"]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(join(folder, "file"));
    const tls = ["--tls-cert", join(folder, "file"), "--tls-key", join(folder, "file")];
    const badTls = await run(["--data", "memory:", "--port", "0", ...tls]);
    expect(badTls.code).toBe(1);
    expect(badTls.stderr).toContain("cannot use TLS certificate");
    const missing = await run([
      "--data",
      "memory:",
      "--port",
      "0",
      "--tls-cert",
      "/no/cert",
      "--tls-key",
      "/no/key",
    ]);
    expect(missing.stderr).toContain("/no/cert");
    expect(missing.stderr).not.toContain("    at ");
  });

  it("a folder for files that holds something else is named, and the process ends", async () => {
    const folder = folderForTest();
    mkdirSync(join(folder, "blobs"));
    writeFileSync(join(folder, "blobs", "foreign"), "");
    const ended = await run(["--data", folder, "--port", "0"]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('"foreign" is not ours');
  });

  it("A3, B10 S15: shows the token at the first start on any address, and only then; warns that it travels in clear", async () => {
    const folder = folderForTest();
    const argv = ["--host", "0.0.0.0", "--data", join(folder, "data")];
    mkdirSync(join(folder, "data"));
    const shown: (string | undefined)[] = [];
    for (let i = 0; i < 2; i++) {
      const server = await startChild(argv);
      const answer = await fetch(`${server.url}/metrics`);
      expect(answer.status).toBe(401);
      server.child.kill("SIGTERM");
      await server.exited;
      expect(server.greeting.join("\n")).toMatch(/WARNING: without TLS.*\n.*--tls-cert.*--public-url https/);
      shown.push(server.greeting.join("\n").match(/Admin token, shown only this once: (cairn_\S+)/)?.[1]);
    }
    expect(shown[0]).toBeDefined();
    expect(shown[1]).toBeUndefined();
  });
});
