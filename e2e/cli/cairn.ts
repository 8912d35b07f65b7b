import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";

const START = fileURLToPath(new URL("../../cli/start.js", import.meta.url));
const COMMAND_MS_MAX = 240_000;

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output as JSON. */
  json(): unknown;
}

export interface RunOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  stdin?: string;
}

/** A server in a process of its own, and the command line beside it with a home of its own. For one test file. */
export interface Terminal {
  readonly server: ChildServer;
  /** With the admin token, where the server asks for one. */
  readonly client: Cairn;
  /** Of the administrator, made with what the server showed at its first start; "" where it asks for none. */
  readonly adminToken: string;
  readonly home: string;
  /** Runs `cairn ...words` to its end. */
  cairn(words: readonly string[], options?: RunOptions): Promise<Ended>;
}

export function useTerminal(serverFlags: readonly string[] = ["--data", "memory:"]): Terminal {
  let server: ChildServer;
  let client: Cairn;
  let adminToken = "";
  const home = mkdtempSync(join(tmpdir(), "cairn-home-"));
  beforeAll(async () => {
    server = await startChild(serverFlags);
    const first = /cairn_[\w-]{43}/.exec(server.greeting.join("\n"))?.[0];
    if (first !== undefined) {
      // What the first token makes ends with it, within a week.
      const { access } = new Cairn({ url: server.url, token: first });
      adminToken = (await access.createToken({ name: "admin", days: 366 })).secret;
    }
    client = new Cairn({ url: server.url, ...(adminToken !== "" && { token: adminToken }) });
  });
  afterAll(async () => {
    server.child.kill("SIGKILL");
    await server.exited;
    await rm(home, { recursive: true, force: true });
  });
  return {
    home,
    get server() {
      return server;
    },
    get client() {
      return client;
    },
    get adminToken() {
      return adminToken;
    },
    cairn: (words, options = {}) =>
      runCairn(words, { ...options, env: { HOME: home, CAIRN_SERVER: server.url, ...options.env } }),
  };
}

/** Nothing of this process's environment but the path. */
export function runCairn(words: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const child = spawn(process.execPath, [START, ...words], {
    cwd: options.cwd,
    env: { PATH: process.env["PATH"], NO_COLOR: "1", ...options.env },
    timeout: COMMAND_MS_MAX,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => {});
  child.stdin.end(options.stdin ?? "");
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr, json: () => JSON.parse(stdout) as unknown }));
  });
}
