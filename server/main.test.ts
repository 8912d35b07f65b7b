import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { greeting } from "./greeting.ts";
import { readSettings, type Settings } from "./settings/settings.ts";
import { startChild } from "./testing/child.ts";
import { makeFolder, startServer } from "./testing/servers.ts";

const START = fileURLToPath(new URL("start.js", import.meta.url));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function run(argv: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Ended> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [START, ...argv], { env, timeout: 120_000 }, (error, stdout, stderr) => {
      if (error?.killed === true) reject(new Error(`the command did not end: ${stdout}${stderr}`));
      else resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

function settingsOf(data: string): Pick<Settings, "host" | "data" | "insecure"> {
  return { host: "127.0.0.1", data, insecure: false };
}

function folderForTest(): string {
  const folder = makeFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe("the command", { timeout: 300_000 }, () => {
  it("B4 prints help and version, and starts nothing", async () => {
    const [help, version] = await Promise.all([run(["--help"]), run(["--version"])]);
    expect([help.code, help.stderr]).toEqual([0, ""]);
    expect(help.stdout).toContain("--data");
    expect(version.stdout).toMatch(/\d+\.\d+\.\d+/);
  });

  it("B4 reports an invalid setting with its value and origin, on one line and without a stack", async () => {
    const wrong = await run(["--port", "70000"]);
    expect([wrong.code, wrong.stdout]).toEqual([1, ""]);
    expect(wrong.stderr).toContain('cairn: cannot use --port with "70000"');
    expect(wrong.stderr).not.toContain("    at ");
    expect(() => readSettings([], { CAIRN_LOG_LEVEL: "loud" })).toThrow("CAIRN_LOG_LEVEL");
  });

  it("reports a port in use", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const ended = await run(["--data", "memory:", "--port", String(port)]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(`${port}`);
    expect(ended.stderr).not.toContain("    at ");
  });

  it("D7 a second process on the same folder is refused with a reason", async () => {
    const folder = folderForTest();
    const first = await startChild(["--data", folder]);
    onTestFinished(() => void first.child.kill("SIGKILL"));
    const second = await run(["--data", folder, "--port", "0"]);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain("another Cairn process uses it");
    first.child.kill("SIGKILL");
    await first.exited;
    // The lock of a killed process is free again.
    const third = await startServer(["--data", folder]);
    await third.close();
    expect(greeting(third, settingsOf(folder))).not.toContain("WARNING");
  });

  it("a folder that is a file, and an invalid certificate, are named", async () => {
    const folder = folderForTest();
    writeFileSync(join(folder, "file"), "", { mode: 0o600 });
    await expect(startServer(["--data", join(folder, "file")])).rejects.toThrow(join(folder, "file"));
    const tls = ["--tls-cert", join(folder, "file"), "--tls-key", join(folder, "file")];
    const badTls = await run(["--data", "memory:", "--port", "0", ...tls]);
    expect(badTls.code).toBe(1);
    expect(badTls.stderr).toContain("cannot use TLS certificate");
    expect(badTls.stderr).not.toContain("    at ");
    const missing = startServer(["--tls-cert", "/no/cert", "--tls-key", "/no/key"]);
    await expect(missing).rejects.toMatchObject({
      code: expect.not.stringMatching("internal") as string,
      message: expect.stringContaining("/no/cert") as string,
    });
  });

  it("a folder for files that holds something else is named, and the process ends", async () => {
    const folder = folderForTest();
    mkdirSync(join(folder, "blobs"));
    writeFileSync(join(folder, "blobs", "foreign"), "");
    const ended = await run(["--data", folder, "--port", "0"]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('"foreign" is not ours');
  });

  it("A3, B10 S15: shows the token at the first start on any address, and only then; warns that it is sent unencrypted", async () => {
    const folder = folderForTest();
    const argv = ["--host", "0.0.0.0", "--data", join(folder, "data")];
    mkdirSync(join(folder, "data"));
    const first = await startChild(argv);
    onTestFinished(() => void first.child.kill("SIGKILL"));
    expect((await fetch(`${first.url}/metrics`)).status).toBe(401);
    first.child.kill("SIGTERM");
    await first.exited;
    const second = await startServer(argv);
    onTestFinished(() => second.close());
    expect((await fetch(`http://127.0.0.1:${second.listening.port}/metrics`)).status).toBe(401);
    const again = { ...settingsOf(join(folder, "data")), host: "0.0.0.0" };
    const shown = [first.greeting.join("\n"), greeting(second, again)].map((said) => {
      expect(said).toMatch(/WARNING: without TLS.*\n.*--tls-cert.*--public-url https/);
      return /Admin token, shown only once: (cairn_\S+)/.exec(said)?.[1];
    });
    expect(shown[0]).toBeDefined();
    expect(shown[1]).toBeUndefined();
  });
});
