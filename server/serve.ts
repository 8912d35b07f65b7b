import { setMaxListeners } from "node:events";
import { join } from "node:path";
import type { Logger } from "pino";
import { systemClock, type Clock } from "#base/clock.ts";
import { Access } from "#core/access/access.ts";
import type { Administrator } from "#core/access/administrators.ts";
import { AuditHeads } from "#core/access/audit-head.ts";
import type { Scope } from "#core/access/scope.ts";
import { Artifacts } from "#core/artifacts/artifacts.ts";
import type { CairnError } from "#core/errors.ts";
import { Ingest } from "#core/ingest/ingest.ts";
import { Backlog } from "#core/quota/backlog.ts";
import { Logs } from "#core/logs/logs.ts";
import { Lineage } from "#core/lineage/lineage.ts";
import { CapturePolicies } from "#core/runs/capture-policies.ts";
import { Namespaces } from "#core/runs/namespaces.ts";
import { Runs } from "#core/runs/runs.ts";
import { Groups } from "#core/series/groups.ts";
import { Metrics } from "#core/series/metrics.ts";
import { System } from "#core/system/system.ts";
import { Changes } from "#core/watch/changes.ts";
import { Watches } from "#core/watch/watches.ts";
import { identify } from "#wire/connect/context.ts";
import { artifactRoutes } from "#wire/artifacts/routes.ts";
import { resultRoutes } from "#wire/results/routes.ts";
import { senderOf } from "#wire/connect/sender.ts";
import { connectWire, type ConnectWire } from "#wire/connect/wire.ts";
import { whileAnswering } from "#wire/kit/answering.ts";
import { buildRouter, type Router } from "#wire/kit/router.ts";
import { openTraffic, type Traffic } from "#wire/kit/traffic.ts";
import { auditSigner } from "./audit-key.ts";
import { openAuthentication } from "./authentication.ts";
import { tendArtifacts } from "./artifact-tending.ts";
import { guardRequest, guardStream } from "./guard-request.ts";
import { buildGuard } from "./guard.ts";
import { LimitedLog } from "./limited-log.ts";
import { listen, type Listening } from "./listen.ts";
import { LocalSecretFile } from "./local-secret-file.ts";
import { buildMetrics } from "./prometheus.ts";
import { Readiness } from "./readiness.ts";
import { serverRoutes } from "./routes.ts";
import { SessionCookie } from "./session-cookie.ts";
import { sessionRoutes } from "./session-routes.ts";
import type { WebFiles } from "./web-files.ts";
import { sendMissingPage, webRoutes, type WebParts } from "./web-routes.ts";
import { isHttps, MEMORY, type Settings } from "./settings.ts";
import { openStores, type Stores } from "./stores.ts";
import { TlsCertificate } from "./tls-certificate.ts";
import { VERSION } from "./version.ts";

const HEARTBEAT_SWEEP_MS = 5_000;
const CLOSE_REQUESTS_MS = 7_000;

/** Browsers keep to https for a year. Names below this one may be other servers, so they are not included. */
const HTTPS_HEADERS = { "strict-transport-security": "max-age=31536000" };

export interface Server {
  listening: Listening;
  stores: Stores;
  wire: ConnectWire;
  router: Router;
  /** The admin token in clear, only on the start that made it. */
  newToken: string | undefined;
  /** Reads the files of the certificate again; undefined without TLS. Never rejects: what cannot be used is logged. */
  reloadCertificate: (() => Promise<void>) | undefined;
  /** Who administers already, where that is to be told at this start. */
  administrators: readonly Administrator[];
  /** What the owner shows; undefined where there is no owner, or the system tells who it is. */
  localSecret: string | undefined;
  /** Refuses new work, finishes what was accepted, closes the stores. */
  close(): Promise<void>;
}

/** What does not come from the settings; all but the pages only tests choose. */
export interface ServeOptions {
  /** The pages; without them a browser sees how to call the API. */
  web?: WebFiles | undefined;
  /** Where clients of this user find the local secret; without it they are not told. */
  localSecretFolder?: string | undefined;
  /** Off to show that both ways behave the same. */
  fast?: boolean;
  /** Of core; the stores have their own. */
  clock?: Clock;
  /** With bounds that can be reached. */
  budgets?: Partial<Pick<Traffic, "bodies" | "answers">>;
  backlog?: Backlog;
}

/** The composition root: settings → stores → core → wires → port. */
export async function serve(settings: Settings, log: Logger, options: ServeOptions = {}): Promise<Server> {
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
  { clock = systemClock, budgets, backlog = new Backlog(), web, localSecretFolder, ...options }: ServeOptions,
): Promise<Server> {
  // First: a start that fails here must not have made the token that is shown only once.
  const { tlsCert: cert, tlsKey: key } = settings;
  const certificate =
    cert === undefined || key === undefined
      ? undefined
      : await TlsCertificate.open({ cert, key }, clock, log);
  const { runs: store, points, search } = stores;
  const changes = new Changes();
  const onGone = (scope: Scope) => access.forget(scope);
  const captures = new CapturePolicies(store);
  await captures.load();
  const runs = new Runs({ store, search, clock, changes, captures, onGone });
  const access = await Access.open({
    store: stores.access,
    clock,
    locateRun: async (caller, id) => (await runs.whereIs(caller, { by: "id", id })).namespace,
  });
  // Whoever watches must find out whether it still may.
  access.onChange(() => changes.rouse());
  const artifacts = new Artifacts({
    store: stores.artifacts,
    runs: store,
    blobs: stores.blobs,
    clock,
    changes,
    captures,
    sizeBytesMax: settings.artifactSizeMax,
    onAccessChange: (listener) => access.onChange(listener),
    onGone,
    onSweepFailure: (thrown) => log.warn({ err: thrown }, "cannot destroy unused content"),
  });
  const core = {
    access,
    auditHeads: new AuditHeads({
      store: stores.access,
      clock,
      signer: auditSigner(settings.data === MEMORY ? undefined : settings.data),
    }),
    runs,
    namespaces: new Namespaces({ store, search, clock, captures, onGone }),
    ingest: new Ingest({ store, runs, clock, changes, captures, backlog }),
    metrics: new Metrics({ store, points, runs, clock }),
    groups: new Groups({ store, points, search, runs, clock }),
    artifacts,
    lineage: new Lineage({ store, links: stores.links, runs, clock }),
    logs: new Logs({ store: stores.logs, runs, changes }),
    watches: new Watches({ store, search, logs: stores.logs, runs, clock, changes }),
    system: new System({
      store,
      runs,
      clock,
      changes,
      onRestored: async () => {
        await captures.load();
        await access.reload();
      },
      content: artifacts.content,
      options: {
        version: VERSION,
        engines: stores.engines,
        backupDirectory: settings.data === MEMORY ? undefined : join(settings.data, "backups"),
      },
    }),
  };
  const cookie = new SessionCookie(settings);
  const authentication = await openAuthentication(settings, access, cookie, clock);
  const { authenticate, newToken, administrators, localSecret } = authentication;
  const quota = {
    requestsPerSecond: settings.quotaRequestsPerSecond,
    bytesPerSecond: settings.quotaBytesPerSecond,
    streamsMax: settings.quotaStreams,
  };
  const traffic = { ...openTraffic(quota), ...budgets };
  const readiness = new Readiness();
  void stores.failed.then((failure) => {
    log.error({ err: failure }, "nothing is stored until a restart");
    readiness.fail(failure);
    // What the last write was to bring may be there at the next start, and its content must be, too.
    void core.artifacts.sweep.stop();
  });
  // What unknown clients may cause.
  const limitedLog = new LimitedLog(log);
  const onFailure = (incident: string, error: CairnError) =>
    limitedLog.error({ incident, err: error }, "request failed");
  const stopping = new AbortController();
  // One listener per open stream is no leak.
  setMaxListeners(0, stopping.signal);
  const wire = connectWire({
    core,
    authenticate,
    traffic,
    health: readiness,
    onFailure,
    stopping: stopping.signal,
    ...options,
  });
  const guard = buildGuard(settings);
  let listening: Listening | undefined;
  const pages: WebParts = {
    files: web,
    version: VERSION,
    cookie,
    needsToken: authentication.needsCredential,
  };
  const router = buildRouter(
    [
      ...serverRoutes({
        isReady: () => readiness.isReady,
        failure: () => readiness.failure,
        metrics: buildMetrics({
          ingest: core.ingest,
          watches: core.watches,
          traffic,
          connections: () => listening?.counts() ?? { open: 0, accepted: 0, refused: 0 },
          certificate,
        }),
      }),
      ...artifactRoutes(core.artifacts),
      ...resultRoutes(core.runs),
      ...sessionRoutes(access, cookie, authentication.ownerSessions),
      ...webRoutes(pages),
    ],
    {
      enforce: ({ request, response, route }) => {
        const sender = { ...senderOf(request), byBrowser: route.byBrowser === true };
        const { caller, account } = identify({ authenticate, traffic }, route.permission, sender);
        if (route.streams === true) response.once("close", account.openStream());
        return { ...caller, account };
      },
      onFailure,
      onMissing: (request, response) => sendMissingPage(pages, request, response),
    },
  );
  // The search is ready once it has heard everything: asking for the tally waits for that.
  await search.tally(await store.publish());
  listening = await listen({
    host: settings.host,
    port: settings.port,
    tls: certificate?.pair,
    answerHeaders: isHttps(settings) ? HTTPS_HEADERS : undefined,
    log: limitedLog,
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
      return whileAnswering(request, response, () => router.serve(request, response));
    },
  });
  const opened = listening;
  certificate?.follow(opened.useCertificate.bind(opened));
  const secretFile =
    localSecretFolder === undefined ? undefined : new LocalSecretFile(localSecretFolder, opened.port);
  try {
    if (localSecret === undefined) secretFile?.remove();
    else secretFile?.write({ address: opened.address, secret: localSecret.text, pid: process.pid });
  } catch (thrown) {
    await opened.close(0);
    throw thrown;
  }
  readiness.set(true);
  const sweep = setInterval(() => {
    runs
      .expireHeartbeats()
      .catch((thrown: unknown) => log.warn({ err: thrown }, "cannot look for lost runs"));
  }, HEARTBEAT_SWEEP_MS);
  const tending = tendArtifacts(core.artifacts, (thrown) =>
    log.warn({ err: thrown }, "cannot look for content nobody needs"),
  );
  return {
    listening,
    stores,
    wire,
    router,
    newToken,
    reloadCertificate: certificate && (() => certificate.reload()),
    administrators,
    localSecret: localSecret?.text,
    close: async () => {
      readiness.set(false);
      clearInterval(sweep);
      stopping.abort();
      changes.stop();
      secretFile?.removeOwn();
      await opened.close(CLOSE_REQUESTS_MS);
      certificate?.close();
      limitedLog.flush();
      await tending.stop();
      await access.close();
      await stores.close();
    },
  };
}
