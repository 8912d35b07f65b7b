import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino, type Logger } from "pino";
import { afterAll, beforeAll } from "vitest";
import { serve, type ServeOptions, type Server } from "#server/serve.ts";
import { readSettings } from "#server/settings.ts";
import { clientsOf, WAYS, type Clients, type Way } from "#wire/connect/testing/ways.ts";
import { writeCertificate } from "./certificate.ts";

/** Real servers on free ports, and clients of them. */
const silent = pino({ level: "silent" });

export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), "cairn-server-"));
}

export function startServer(
  argv: readonly string[] = [],
  options: ServeOptions = {},
  log: Logger = silent,
): Promise<Server> {
  const settings = readSettings(["--port", "0", "--data", "memory:", ...argv], {});
  return serve(settings, log, options);
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

/** One server of each kind for the whole file; gives the clients of a way. */
export function useWays(): (way: Way) => WayIn {
  const servers = new Map<Way["server"], Server>();
  let folder: string;
  beforeAll(async () => {
    folder = makeFolder();
    servers.set("fast", await startServer());
    servers.set("generic", await startServer([], { fast: false }));
    servers.set("tls", await startServer(writeCertificate(folder).argv));
    servers.set("disk", await startServer(["--data", join(folder, "data")]));
  });
  afterAll(async () => {
    for (const server of servers.values()) await server.close();
    rmSync(folder, { recursive: true });
  });
  const opened = new Map<Way, WayIn>();
  return (way) => {
    const { url } = servers.get(way.server)!.listening;
    const known = opened.get(way) ?? { url, way, ...clientsOf(way.transport(url)) };
    opened.set(way, known);
    return known;
  };
}

export { WAYS };
