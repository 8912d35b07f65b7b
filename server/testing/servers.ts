import { mkdtempSync, rmSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino, type Logger } from "pino";
import { afterAll, beforeAll } from "vitest";
import { serve, type ServeOptions, type Server } from "#server/serve.ts";
import { readSettings } from "#server/settings/settings.ts";
import { openStores } from "#server/stores.ts";
import { startKeptThread } from "#store/sqlite/testing/kept-threads.ts";
import { clientsOf, TWO_WAYS, WAYS, type Clients, type Way } from "#wire/connect/testing/ways.ts";
import { writeCertificate } from "./certificate.ts";

// Every server starts a thread; with the cache that takes half the time.
enableCompileCache();

/** Real servers on free ports, and clients of them. */
const silent = pino({ level: "silent" });

export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), "cairn-server-"));
}

export async function startServer(
  argv: readonly string[] = [],
  options: ServeOptions = {},
  log: Logger = silent,
): Promise<Server> {
  const settings = readSettings(["--port", "0", "--data", "memory:", ...argv], {});
  return serve(settings, await openStores(settings, startKeptThread), log, options);
}

/** Starts a server before the tests of the file that calls this, and stops it after them. */
export function useServer(argv: readonly string[] = [], options: { fast?: boolean } = {}): () => Server {
  let server: Server | undefined;
  beforeAll(async () => {
    server = await startServer(argv, options);
  });
  afterAll(() => server?.close());
  return () => server!;
}

export interface WayIn extends Clients {
  url: string;
  way: Way;
}

/** One server for each kind that these ways need, for the whole file; gives the clients of a way. */
export function useWays(ways: readonly Way[] = TWO_WAYS, argv: readonly string[] = []): (way: Way) => WayIn {
  const servers = new Map<Way["server"], Server>();
  const opened = new Map<Way, WayIn>();
  let folder: string;
  beforeAll(async () => {
    folder = makeFolder();
    for (const { server: kind } of ways) {
      if (!servers.has(kind)) servers.set(kind, await startKind(kind, folder, argv));
    }
  });
  afterAll(async () => {
    for (const server of servers.values()) await server.close();
    rmSync(folder, { recursive: true });
  });
  return (way) => {
    const { url } = servers.get(way.server)!.listening;
    const known = opened.get(way) ?? { url, way, ...clientsOf(way.transport(url)) };
    opened.set(way, known);
    return known;
  };
}

function startKind(kind: Way["server"], folder: string, argv: readonly string[]): Promise<Server> {
  switch (kind) {
    case "fast":
      return startServer(argv);
    case "generic":
      return startServer(argv, { fast: false });
    case "tls":
      return startServer([...writeCertificate(folder).argv, ...argv]);
    case "disk":
      return startServer(["--data", join(folder, "data"), ...argv]);
  }
}

export { TWO_WAYS, WAYS };
