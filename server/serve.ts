import { setMaxListeners } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { systemClock } from "#base/clock.ts";
import { authorize } from "#core/access/caller.ts";
import { CairnError, quote } from "#core/errors.ts";
import { Ingest } from "#core/ingest/ingest.ts";
import { Namespaces } from "#core/runs/namespaces.ts";
import { Runs } from "#core/runs/runs.ts";
import { Metrics } from "#core/series/metrics.ts";
import { System } from "#core/system/system.ts";
import { connectWire, type ConnectWire } from "#wire/connect/wire.ts";
import { buildRouter, type Router } from "#wire/kit/router.ts";
import { openAuthentication } from "./admin-token.ts";
import { guardRequest, guardStream } from "./guard-request.ts";
import { buildGuard } from "./guard.ts";
import { listen, type Listening } from "./listen.ts";
import { buildMetrics } from "./prometheus.ts";
import { Readiness } from "./readiness.ts";
import { serverRoutes } from "./routes.ts";
import { MEMORY, type Settings } from "./settings.ts";
import { openStores, type Stores } from "./stores.ts";
import { VERSION } from "./version.ts";

const HEARTBEAT_SWEEP_MS = 5_000;
const CLOSE_REQUESTS_MS = 7_000;

export interface Server {
  listening: Listening;
  stores: Stores;
  wire: ConnectWire;
  router: Router;
  /** The admin token in clear, only on the start that made it. */
  newToken: string | undefined;
  /** Refuses new work, finishes what was accepted, closes the stores. */
  close(): Promise<void>;
}

/** The composition root: settings → stores → core → wires → port. */
export async function serve(
  settings: Settings,
  log: Logger,
  options: { fast?: boolean } = {},
): Promise<Server> {
  const stores = await openStores(settings);
  try {
    return await serveStores(settings, stores, log, options);
  } catch (thrown) {
    await stores.close();
    throw thrown;
  }
}

async function serveStores(
  settings: Settings,
  stores: Stores,
  log: Logger,
  options: { fast?: boolean },
): Promise<Server> {
  const clock = systemClock;
  const { runs: store, points, search } = stores;
  const runs = new Runs({ store, search, clock });
  const core = {
    runs,
    namespaces: new Namespaces({ store, search, clock }),
    ingest: new Ingest({ store, runs, clock }),
    metrics: new Metrics({ store, points, runs }),
    system: new System({
      store,
      runs,
      clock,
      options: {
        version: VERSION,
        engines: stores.engines,
        backupDirectory: settings.data === MEMORY ? undefined : join(settings.data, "backups"),
      },
    }),
  };
  const { authenticate, newToken } = await openAuthentication(settings, store);
  const readiness = new Readiness();
  const onFailure = (incident: string, error: CairnError) =>
    log.error({ incident, err: error }, "request failed");
  const stopping = new AbortController();
  // One listener per open stream is no leak.
  setMaxListeners(0, stopping.signal);
  const wire = connectWire({
    core,
    authenticate,
    health: readiness,
    onFailure,
    stopping: stopping.signal,
    ...options,
  });
  const guard = buildGuard(settings);
  let listening: Listening | undefined;
  const router = buildRouter(
    serverRoutes({
      version: VERSION,
      isReady: () => readiness.isReady,
      needsToken: authenticate({ address: "127.0.0.1", headers: {} }).kind === "anonymous",
      metrics: buildMetrics({
        ingest: core.ingest,
        connections: () => listening?.counts() ?? { open: 0, accepted: 0, refused: 0 },
      }),
    }),
    {
      enforce: ({ request, route }) => {
        const sender = { address: request.socket.remoteAddress, headers: request.headers };
        authorize({ principal: authenticate(sender), permission: route.permission }, "");
      },
      onFailure,
    },
  );
  // The search is ready once it has heard everything: asking for the tally waits for that.
  await search.tally(await store.publish());
  listening = await listen({
    host: settings.host,
    port: settings.port,
    tls: tlsOf(settings),
    log,
    limits: {
      connectionsMax: settings.connectionsMax,
      connectionsPerAddressMax: settings.connectionsPerAddressMax,
    },
    isClientStream: (path) => wire.isClientStream(path),
    onStream: (stream, headers) => !guardStream(guard, stream, headers) || wire.onStream(stream, headers),
    onRequest: (request, response) => {
      if (!guardRequest(guard, request, response)) return;
      const path = request.url?.split("?", 1)[0] ?? "";
      if (wire.owns(path)) return wire.onRequest(request, response);
      return router.serve(request, response);
    },
  });
  readiness.set(true);
  const sweep = setInterval(() => {
    runs
      .expireHeartbeats()
      .catch((thrown: unknown) => log.warn({ err: thrown }, "cannot look for lost runs"));
  }, HEARTBEAT_SWEEP_MS);
  const opened = listening;
  return {
    listening,
    stores,
    wire,
    router,
    newToken,
    close: async () => {
      readiness.set(false);
      clearInterval(sweep);
      stopping.abort();
      await opened.close(CLOSE_REQUESTS_MS);
      await stores.close();
    },
  };
}

function tlsOf({ tlsCert, tlsKey }: Settings): { cert: Buffer; key: Buffer } | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  return { cert: readPem(tlsCert), key: readPem(tlsKey) };
}

function readPem(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new CairnError("invalid", `cannot read TLS file ${quote(file)}: ${(cause as Error).message}`, {
      cause,
      hint: "Check --tls-cert and --tls-key.",
    });
  }
}
