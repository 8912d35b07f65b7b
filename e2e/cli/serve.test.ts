import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { SETTING_ROWS, flagOf } from "#server/settings/setting-table.ts";
import { noteUncaught } from "#server/testing/child.ts";
import { asNpmStart } from "../load/measure.ts";
import { START, startCairn } from "./testing/start-cairn.ts";

const { nodeFlags = [] } = asNpmStart();

describe("cairn serve", () => {
  const home = mkdtempSync(join(tmpdir(), "cairn-serve-"));
  afterAll(() => rmSync(home, { recursive: true }));

  it.each(["SIGTERM", "SIGINT"] as const)(
    "T5 is the server, with the flags of Node that it has by npm start, and ends as it does on %s",
    async (signal) => {
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
      const words = readFileSync(`/proc/${child.pid}/cmdline`, "utf8").split("\0");
      expect(words.slice(1, 1 + nodeFlags.length)).toEqual(nodeFlags);
      child.kill(signal);
      expect(await once(child, "exit")).toEqual([0, null]);
      expect(log.join("\n")).toContain(`"signal":"${signal}"`);
    },
  );

  it("T5 waits for the server where a system cannot replace a process, and passes a signal on", async () => {
    const without = "--import=data:text/javascript,delete process.execve";
    const child = spawn(process.execPath, [START, "serve", "--port", "0", "--data", "memory:"], {
      stdio: ["ignore", "pipe", "ignore"],
      env: { PATH: process.env["PATH"], HOME: home, NODE_OPTIONS: without.replaceAll(" ", "%20") },
    });
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const url = /listening on (\S+)/.exec(line)?.[1];
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
    await expect(fetch(`${url}/readyz`)).rejects.toThrow("fetch failed");
  });

  it("T5 refuses a wrong flag in the words of the server", async () => {
    const { code, stderr } = await startCairn(["serve", "--prot", "1"], { env: { HOME: home } });
    expect(stderr).toBe('cairn: cannot use flag "--prot": unknown flag\n  Did you mean --port?\n');
    expect(code).toBe(1);
  });

  it("T5 shows every flag of the server in its help", async () => {
    const { code, stdout } = await startCairn(["serve", "--help"]);
    expect(code).toBe(0);
    for (const row of SETTING_ROWS) expect(stdout).toContain(flagOf(row));
  });
});
