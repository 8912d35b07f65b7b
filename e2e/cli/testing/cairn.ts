import { EventEmitter } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { afterAll, beforeAll } from "vitest";
import { main } from "#cli/main.ts";
import type { Surroundings } from "#cli/surroundings.ts";
import { Cairn } from "#sdk/client.ts";
import type { Server } from "#server/serve.ts";
import { startServer } from "#server/testing/servers.ts";
import { endedWith, environment, type Ended, type RunOptions } from "./start-cairn.ts";

export type { RunOptions };

/** A server, and the command line beside it with a home of its own. For one test file. */
export interface Terminal {
  readonly server: { readonly url: string };
  /** With the admin token, if the server requires one. */
  readonly client: Cairn;
  /** Token of the administrator, made with the first token of the server; "" if it requires none. */
  readonly adminToken: string;
  readonly home: string;
  /** Runs `cairn ...words` to its end, in this process. */
  cairn(words: readonly string[], options?: RunOptions): Promise<Ended>;
}

export function useTerminal(serverFlags: readonly string[] = []): Terminal {
  let server: Server;
  let client: Cairn;
  let adminToken = "";
  const home = mkdtempSync(join(tmpdir(), "cairn-home-"));
  beforeAll(async () => {
    server = await startServer(serverFlags);
    const { url } = server.listening;
    if (server.newToken !== undefined) {
      // What the first token makes ends with it, within a week.
      const { access } = new Cairn({ url, token: server.newToken });
      adminToken = (await access.createToken({ name: "admin", days: 366 })).secret;
    }
    client = new Cairn({ url, ...(adminToken !== "" && { token: adminToken }) });
  });
  afterAll(async () => {
    await server.close();
    await rm(home, { recursive: true, force: true });
  });
  return {
    home,
    get server() {
      return server.listening;
    },
    get client() {
      return client;
    },
    get adminToken() {
      return adminToken;
    },
    cairn: (words, options = {}) =>
      runCairn(words, {
        ...options,
        env: { HOME: home, CAIRN_SERVER: server.listening.url, ...options.env },
      }),
  };
}

/** A command that runs in this process, with what it has written so far. */
export interface Running {
  readonly stdout: string;
  readonly stderr: string;
  /** As if the user pressed Ctrl-C. */
  interrupt(): void;
  /** The exit code. */
  readonly ended: Promise<number>;
}

/** Starts `cairn ...words` in this process. It has nothing of the process's environment but the path. */
export function openCairn(words: readonly string[], options: RunOptions = {}): Running {
  const { promise: exited, resolve: exit } = Promise.withResolvers<number>();
  const [stdout, stderr] = [new Collector(options), new Collector(options)];
  const signals = new EventEmitter();
  const surroundings: Surroundings = {
    env: environment(options),
    cwd: () => options.cwd ?? process.cwd(),
    stdin: new PassThrough().end(options.stdin ?? ""),
    stdout,
    stderr,
    on: (signal, listener) => signals.on(signal, listener),
    off: (signal, listener) => signals.off(signal, listener),
    exit,
  };
  return {
    get stdout() {
      return stdout.text;
    },
    get stderr() {
      return stderr.text;
    },
    interrupt: () => void signals.emit("SIGINT"),
    ended: Promise.race([main(words, surroundings), exited]),
  };
}

/** Runs `cairn ...words` to its end, in this process. */
export async function runCairn(words: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const running = openCairn(words, options);
  const code = await running.ended;
  return endedWith(code, running.stdout, running.stderr);
}

class Collector extends Writable {
  readonly isTTY: boolean;
  readonly #chunks: Buffer[] = [];

  constructor({ isTerminal = false }: RunOptions) {
    super();
    this.isTTY = isTerminal;
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }
}
