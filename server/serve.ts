import { setMaxListeners } from "node:events";
import { join } from "node:path";
import type { Logger } from "pino";
import { systemClock, type Clock } from "#base/clock.ts";
import type { Administrator } from "#core/access/administrators.ts";
import { CairnError } from "#lang/errors.ts";
import { type Core, type CoreOptions, openCore } from "#core/open-core.ts";
import type { QuotaLimits } from "#core/quota/account.ts";
import { Backlog } from "#core/quota/backlog.ts";
import { artifactRoutes } from "#wire/artifacts/routes.ts";
import { resultRoutes } from "#wire/results/routes.ts";
import { connectWire, type ConnectWire } from "#wire/connect/wire.ts";
import { whileAnswering } from "#wire/kit/answering.ts";
import { identify } from "#wire/kit/identify.ts";
import { buildRouter, type Router } from "#wire/kit/router.ts";
import { senderOf } from "#wire/kit/sender.ts";
import { openTraffic, type Traffic } from "#wire/kit/traffic.ts";
import { type Authentication, openAuthentication } from "./auth/authentication.ts";
import { auditSigner } from "./audit/audit-key.ts";
import { guardRequest, guardStream } from "./listen/guard-request.ts";
import { buildGuard } from "./listen/guard.ts";
import { LimitedLog } from "./monitoring/limited-log.ts";
import { listen, type Listening } from "./listen/listen.ts";
import { LocalSecretFile } from "./auth/local-secret-file.ts";
import type { Registry } from "prom-client";
import { Readiness } from "./monitoring/readiness.ts";
import { serverRoutes } from "./routes.ts";
import { SessionCookie } from "./auth/session-cookie.ts";
import { sessionRoutes } from "./auth/session-routes.ts";
import { openInstallFiles, type InstallFiles } from "./web/install-files.ts";
import { installRoutes } from "./web/install-routes.ts";
import type { WebFiles } from "./web/web-files.ts";
import { sendMissingPage, webRoutes, type WebParts } from "./web/web-routes.ts";
import { isHttps, MEMORY, type Settings } from "./settings/settings.ts";
import type { Stores } from "./stores.ts";
import { TlsCertificate } from "./listen/tls-certificate.ts";
import { VERSION } from "./version.ts";

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
  /** The secret of the link that signs a browser in once; only on that start, too. */
  linkSecret: string | undefined;
  /** Reads the files of the certificate again; undefined without TLS. Never rejects: invalid files are logged. */
  reloadCertificate: (() => Promise<void>) | undefined;
  /** The existing administrators, if this start must list them. */
  administrators: readonly Administrator[];
  /** The secret of the owner; undefined without an owner, or where the system identifies it. */
  localSecret: string | undefined;
  /** Refuses new work, finishes what was accepted, closes the stores. */
  close(): Promise<void>;
}

/** Options that are not settings; all but the pages and the folder are only for tests. */
export interface ServeOptions {
  /** The pages; without them a browser sees how to call the API. */
  web?: WebFiles | undefined;
  /** Packages of clients for download, by default those in the folder `install/`. */
  install?: InstallFiles;
  /** Where clients of this user find the local secret; without it no file is written. */
  localSecretFolder?: string | undefined;
  /** Off to show that both ways behave the same. */
  fast?: boolean;
  /** Of core; the stores have their own. */
  clock?: Clock;
  /** With limits that tests can reach. */
  budgets?: Partial<Pick<Traffic, "bodies" | "answers">>;
  backlog?: Backlog;
  /** How long a stop waits for requests that are not finished. */
  closeRequestsMs?: number;
}

/** The composition root: settings → stores → core → wires → port. The stores are closed with the server. */
export async function serve(
  settings: Settings,
  stores: Stores,
  log: Logger,
  options: ServeOptions = {},
): Promise<Server> {
  try {
    return await serveStores(settings, stores, log, options);
  } catch (thrown) {
    // Why the start failed is reported, not what follows from that.
    await stores.close().catch((failure: unknown) => log.warn({ err: failure }, "cannot close the stores"));
    throw thrown;
  }
}

function coreOptions(
  settings: Settings,
  { engines }: Stores,
  { clock, backlog, log }: { clock: Clock; backlog: Backlog; log: Logger },
): CoreOptions {
  const data = settings.data === MEMORY ? undefined : settings.data;
  return {
    clock,
    backlog,
    artifactSizeMax: settings.artifactSizeMax,
    auditSigner: auditSigner(data),
    onSweepFailure: (thrown) => log.warn({ err: thrown }, "cannot destroy unused content"),
    onChoreFailure: (chore, thrown) => log.warn({ err: thrown }, `cannot ${chore}`),
    system: { version: VERSION, engines, backupDirectory: data && join(data, "backups") },
  };
}

async function serveStores(
  settings: Settings,
  stores: Stores,
  log: Logger,
  { budgets, closeRequestsMs = CLOSE_REQUESTS_MS, localSecretFolder, ...options }: ServeOptions,
): Promise<Server> {
  const { clock = systemClock, backlog = new Backlog(), web, install, ...wireOptions } = options;
  // First, because a start that fails here must not have made the token that is shown only once.
  const certificate = await openCertificate(settings, clock, log);
  const core = await openCore(stores, coreOptions(settings, stores, { clock, backlog, log }));
  const cookie = new SessionCookie(settings);
  const authentication = await openAuthentication(settings, core.access, cookie, clock);
  const { authenticate, newToken, signInLink, administrators, localSecret } = authentication;
  const traffic = { ...openTraffic(quotaOf(settings)), ...budgets };
  const readiness = new Readiness();
  followFailure(stores, readiness, core, log);
  // Lines that unknown clients may cause.
  const limitedLog = new LimitedLog(log);
  const onFailure = (incident: string, error: CairnError) =>
    limitedLog.error({ incident, err: error }, "request failed");
  const stopping = new AbortController();
  // One listener per open stream is not a leak.
  setMaxListeners(0, stopping.signal);
  const wire = connectWire({
    core,
    authenticate,
    traffic,
    health: readiness,
    onFailure,
    stopping: stopping.signal,
    ...wireOptions,
  });
  let listening: Listening | undefined;
  const router = openRouter({
    core,
    authentication,
    cookie,
    traffic,
    readiness,
    certificate,
    web,
    install,
    onFailure,
    connections: () => listening?.counts() ?? { open: 0, accepted: 0, refused: 0 },
  });
  // The search is ready once it has every run: the tally waits for that.
  await stores.search.tally();
  const opened = await openListening({ settings, certificate, log: limitedLog, wire, router });
  listening = opened;
  certificate?.follow(opened.useCertificate.bind(opened));
  const secretFile = await keepLocalSecret(localSecretFolder, opened, localSecret?.text);
  readiness.set(true);
  core.chores.start();
  return {
    listening: opened,
    stores,
    wire,
    router,
    newToken,
    linkSecret: signInLink?.text,
    reloadCertificate: certificate && (() => certificate.reload()),
    administrators,
    localSecret: localSecret?.text,
    close: async () => {
      readiness.set(false);
      stopping.abort();
      // Streams would keep the port open.
      core.changes.stop();
      secretFile?.removeOwn();
      await opened.close(closeRequestsMs);
      certificate?.close();
      limitedLog.flush();
      await core.close();
      await stores.close();
    },
  };
}

/** undefined without TLS. */
async function openCertificate(
  { tlsCert: cert, tlsKey: key }: Settings,
  clock: Clock,
  log: Logger,
): Promise<TlsCertificate | undefined> {
  if (cert === undefined || key === undefined) return undefined;
  return TlsCertificate.open({ cert, key }, clock, log);
}

/** A failed store stays failed until a restart, and the server reports it. */
function followFailure(stores: Stores, readiness: Readiness, core: Core, log: Logger): void {
  void stores.failed.then((failure) => {
    log.error({ err: failure }, "nothing is stored until a restart");
    readiness.fail(failure);
    // The last write may be stored at the next start, and then its content must be, too.
    void core.artifacts.sweep.stop();
  });
}

function quotaOf(settings: Settings): QuotaLimits {
  return {
    requestsPerSecond: settings.quotaRequestsPerSecond,
    bytesPerSecond: settings.quotaBytesPerSecond,
    streamsMax: settings.quotaStreams,
  };
}

interface RouterParts {
  core: Core;
  authentication: Authentication;
  cookie: SessionCookie;
  traffic: Traffic;
  readiness: Readiness;
  certificate: TlsCertificate | undefined;
  web: WebFiles | undefined;
  install: InstallFiles | undefined;
  onFailure: (incident: string, error: CairnError) => void;
  connections: Listening["counts"];
}

/** Everything but the methods of the API: health, metrics, content, sessions and pages. */
function openRouter(parts: RouterParts): Router {
  const { core, authentication, cookie, traffic, readiness } = parts;
  const { authenticate } = authentication;
  const pages: WebParts = {
    files: parts.web,
    version: VERSION,
    cookie,
    needsToken: authentication.needsCredential,
  };
  let metrics: Promise<Registry> | undefined;
  // Where they cannot be loaded now, the next request tries again.
  const forgetMetrics = (thrown: unknown): never => {
    metrics = undefined;
    throw thrown;
  };
  return buildRouter(
    [
      ...serverRoutes({
        isReady: () => readiness.isReady,
        failure: () => readiness.failure,
        metrics: () => (metrics ??= loadMetrics(parts).catch(forgetMetrics)),
      }),
      ...artifactRoutes(core.artifacts),
      ...resultRoutes(core.runs, traffic),
      ...sessionRoutes(core.access, cookie, authentication),
      ...installRoutes(parts.install ?? openInstallFiles()),
      ...webRoutes(pages),
    ],
    {
      enforce: async ({ request, response, route }) => {
        const sender = { ...senderOf(request), byBrowser: route.byBrowser === true };
        const { caller, account } = await identify({ authenticate, traffic }, route.permission, sender);
        // Authentication may have taken a while. Responses of HTTP/2 do not say themselves that they are closed.
        const isGone = "stream" in response ? response.stream.destroyed : response.destroyed;
        if (isGone) throw new CairnError("aborted", "cannot answer: the client disconnected");
        if (route.streams === true) response.once("close", account.openStream());
        return { ...caller, account };
      },
      onFailure: parts.onFailure,
      onMissing: (request, response) => sendMissingPage(pages, request, response),
    },
  );
}

/** Their library is a tenth of what a start would load, and most servers on a laptop are never asked for them. */
async function loadMetrics({ core, ...parts }: RouterParts): Promise<Registry> {
  const { buildMetrics } = await import("./monitoring/prometheus.ts");
  return buildMetrics({ ...parts, ingest: core.ingest, watches: core.watches });
}

function openListening({
  settings,
  certificate,
  log,
  wire,
  router,
}: {
  settings: Settings;
  certificate: TlsCertificate | undefined;
  log: LimitedLog;
  wire: ConnectWire;
  router: Router;
}): Promise<Listening> {
  const guard = buildGuard(settings);
  return listen({
    host: settings.host,
    port: settings.port,
    tls: certificate?.pair,
    answerHeaders: isHttps(settings) ? HTTPS_HEADERS : undefined,
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
      return whileAnswering(request, response, () => router.serve(request, response));
    },
  });
}

/** Lets clients of this user find the secret, or removes the one of an earlier start. Closes the port when it cannot. */
async function keepLocalSecret(
  folder: string | undefined,
  listening: Listening,
  secret: string | undefined,
): Promise<LocalSecretFile | undefined> {
  if (folder === undefined) return undefined;
  const file = new LocalSecretFile(folder, listening.port);
  try {
    if (secret === undefined) file.remove();
    else file.write({ address: listening.address, secret, pid: process.pid });
  } catch (thrown) {
    await listening.close(0);
    throw thrown;
  }
  return file;
}
