import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { SETTING_ROWS, flagOf } from "#server/setting-table.ts";
import { writeCertificate } from "#server/testing/certificate.ts";
import { noteUncaught } from "#server/testing/child.ts";
import { pythonCommand } from "../../tools/needs.ts";
import { runCairn } from "./cairn.ts";

const START = fileURLToPath(new URL("../../cli/start.js", import.meta.url));

/** Runs a command in a terminal, closes that once the server greets, and prints which signal ended it. */
const CLOSE_TERMINAL = `
import os, pty, sys
child, terminal = pty.fork()
if child == 0: os.execv(sys.argv[1], sys.argv[1:])
seen = b""
while b"Data:" not in seen and b"Nothing is written" not in seen: seen += os.read(terminal, 65536)
if os.environ.get("HANG_UP_FIRST"):
    os.kill(child, 1)
    while b"reloaded" not in seen: seen += os.read(terminal, 65536)
os.close(terminal)
print(os.WTERMSIG(os.waitpid(child, 0)[1]))
`;

describe("cairn serve", () => {
  const home = mkdtempSync(join(tmpdir(), "cairn-serve-"));
  afterAll(() => rmSync(home, { recursive: true }));

  it.each(["SIGTERM", "SIGINT"] as const)("T5 is the server, and ends as it does on %s", async (signal) => {
    const child = spawn(process.execPath, [START, "serve", "--port", "0", "--data", join(home, "data")], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"], HOME: home },
    });
    const log: string[] = [];
    createInterface({ input: child.stderr }).on("line", (line) => {
      log.push(line);
      noteUncaught(line);
    });
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const url = /listening on (\S+)/.exec(line)?.[1];
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(log.join("\n")).toContain(`"signal":"${signal}"`);
  });

  it.each(["", "yes"])(
    "T5, B9: ends with its terminal, though SIGHUP alone (%j) reloads its certificate",
    async (hangUpFirst) => {
      const { argv } = writeCertificate(home);
      const words = [START, "serve", "--port", "0", "--data", "memory:", ...argv];
      const { stdout } = await promisify(execFile)(
        pythonCommand(),
        ["-c", CLOSE_TERMINAL, process.execPath, ...words],
        { env: { PATH: process.env["PATH"], HOME: home, HANG_UP_FIRST: hangUpFirst }, timeout: 60_000 },
      );
      expect(stdout.trim()).toBe("1");
    },
  );

  it("T5 refuses a wrong flag in the words of the server", async () => {
    const { code, stderr } = await runCairn(["serve", "--prot", "1"], { env: { HOME: home } });
    expect(stderr).toBe('cairn: cannot use flag "--prot": there is no such flag\n  Did you mean --port?\n');
    expect(code).toBe(1);
  });

  it("T5 shows every flag of the server in its help", async () => {
    const { code, stdout } = await runCairn(["serve", "--help"]);
    expect(code).toBe(0);
    for (const row of SETTING_ROWS) expect(stdout).toContain(flagOf(row));
  });
});
