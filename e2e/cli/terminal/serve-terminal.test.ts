import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { writeCertificate } from "#server/testing/certificate.ts";
import { noteUncaught } from "#server/testing/child.ts";
import { pythonCommand } from "../../../tools/needs.ts";
import { START } from "../testing/start-cairn.ts";

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
sys.stderr.buffer.write(seen)
print(os.WTERMSIG(os.waitpid(child, 0)[1]))
`;

describe("cairn serve on a terminal", () => {
  const home = mkdtempSync(join(tmpdir(), "cairn-serve-"));
  afterAll(() => rmSync(home, { recursive: true }));

  it.each(["", "yes"])(
    "T5, B9: ends with its terminal, though SIGHUP alone (%j) reloads its certificate",
    async (hangUpFirst) => {
      const { argv } = writeCertificate(home);
      const words = [START, "serve", "--port", "0", "--data", "memory:", ...argv];
      const { stdout, stderr } = await promisify(execFile)(
        pythonCommand(),
        ["-c", CLOSE_TERMINAL, process.execPath, ...words],
        { env: { PATH: process.env["PATH"], HOME: home, HANG_UP_FIRST: hangUpFirst }, timeout: 60_000 },
      );
      for (const line of stderr.split("\n")) noteUncaught(line);
      expect(stdout.trim()).toBe("1");
    },
  );
});
