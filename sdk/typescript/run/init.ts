import { toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { systemClock } from "#base/clock.ts";
import { newRunId } from "#base/ids.ts";
import { CreateRunRequestSchema, type Run as RunMessage } from "#proto/cairn/v1/run_pb.ts";
import { readRank } from "../capture/ranks.ts";
import { Cairn } from "../client.ts";
import { Delivery } from "../delivery/delivery.ts";
import { Transmitter } from "../delivery/transmitter.ts";
import { isTransient } from "../retry.ts";
import { keepServer, ownerOf, spoolPath, type Owner } from "../spool/owner.ts";
import { Spool } from "../spool/spool.ts";
import { VERSION } from "../version.ts";
import { archiveCode, chooseCaptures, startCaptures } from "./captures.ts";
import { CapturedProvenance } from "./captured-provenance.ts";
import { chooseServer, followLogin } from "./choose-server.ts";
import { ForbiddenCaptures } from "./forbidden-captures.ts";
import { explainDelivery, explainFailure, explainSpool } from "./explain.ts";
import { checkOptions, type InitOptions } from "./init-options.ts";
import { programBegins } from "./job-runs.ts";
import { Notices } from "./notices.ts";
import { namespaceOf, openRequest, type RunTarget } from "./open-request.ts";
import { catchUp, findForbidden, findResumed } from "./resume.ts";
import { Run } from "./run.ts";
import { within } from "./within.ts";

const OPEN_MS = 2_000;
const FINISH_MS = 30_000;
const HEARTBEAT_SECONDS = 30;
/** Shorter outages are not reported. */
const MISSED_MS = 2_000;

/** What the server said when the run was opened; undefined of a run that was named by its id. */
interface Opened {
  run: RunMessage | undefined;
  created: boolean;
}

/**
 * Begins a run, or continues one. Waits a moment for the server and then continues without it: what is logged is kept
 * in the spool until the server takes it. Throws for invalid options.
 */
export async function init(options: InitOptions = {}): Promise<Run> {
  checkOptions(options);
  const alias = options.alias ?? readRank(options.env ?? process.env).jobAlias;
  if (alias !== undefined) programBegins(alias);
  return beginRun(options);
}

/** The same for a tracker, which stops to capture as soon as the program itself begins a run for the job. */
export async function beginRun(options: InitOptions): Promise<Run> {
  checkOptions(options);
  const env = options.env ?? process.env;
  const notices = new Notices(options.onNotice);
  const leftMs = countdown(options.openMs ?? OPEN_MS);
  const address = await chooseServer(options, env, notices);
  const cairn = new Cairn(address);
  const isOffline = options.offline ?? env["CAIRN_OFFLINE"] === "1";
  const place = readRank(env);
  const rank = options.rank ?? place.rank;
  const isPrimary = options.primary ?? (rank === undefined || rank === 0);
  const { captures, forbidden, captured } = prepareCaptures(options, env, isPrimary, notices);

  const writer = newRunId(Date.now());
  const target = await chooseTarget(options, writer, place.jobAlias, isOffline ? undefined : cairn, leftMs);
  await learnForbidden(forbidden, target, cairn, leftMs);
  const early = await captured?.early();
  const request = openRequest(options, target, systemClock.nowUs(), notices, early);
  const open = toBinary(CreateRunRequestSchema, request);
  const server = { server: cairn.url, serverSet: address.by !== "default" };
  const owner = ownerOf(writer, server, `typescript ${VERSION}`, systemClock.nowUs());
  const spool = openSpool(options, env, notices, { owner, open });
  const opening = Promise.withResolvers<Opened | undefined>();
  const delivery = new Delivery({
    cairn,
    source: spool,
    open,
    onOpen: (run, created) => opening.resolve({ run, created }),
    onAnswer: () => keepServer(spool.folder, cairn.url),
    onForbidden: (found, wasSent) => forbidden.learn(found, wasSent),
    ...explainDelivery(notices),
    onUploadProgress: options.onUploadProgress,
  });
  const login = followLogin({ ...address, url: cairn.url }, options, env, (found) =>
    delivery.use(new Cairn(found)),
  );
  const heartbeatSeconds = options.heartbeatSeconds ?? HEARTBEAT_SECONDS;
  const transmitter = newTransmitter(options, notices, {
    delivery,
    spool,
    url: cairn.url,
    opening,
    renewLogin: login.renew,
    // The server may have marked the run as lost meanwhile.
    onBack: (awayMs) => {
      if (heartbeatSeconds > 0 && awayMs >= heartbeatSeconds * 1000) run.goOn();
    },
  });
  const run = new Run({
    spool,
    delivery,
    transmitter: isOffline ? undefined : transmitter,
    notices,
    namespace: namespaceOf(target, options),
    captured,
    clock: systemClock,
    token: login.token,
    labels: rank === undefined ? {} : { rank: String(rank) },
    rank,
    isPrimary,
    everyCall: options.fsync === "every",
    heartbeatSeconds,
    finishMs: options.finishMs ?? FINISH_MS,
    watchExit: options.handleExit ?? true,
  });
  forbidden.onConsole = () => run.ignoreConsole();
  if (forbidden.console) run.ignoreConsole();
  // Finding a run does not change it: changes come in an envelope.
  run.begin(options, { mayExist: target.by !== "new" });
  if (!isOffline) {
    transmitter.start();
    await waitUntilOpen(run, delivery, opening.promise, { cairn, rank, notices, leftMs });
  }
  await startCaptures(run, captures, forbidden);
  if (isPrimary) {
    const archive = archiveCode(run, captures, forbidden);
    run.hold(captured?.archives(archive, captures.archive) ?? archive);
  }
  return run;
}

function prepareCaptures(
  { capture }: InitOptions,
  env: NodeJS.ProcessEnv,
  isPrimary: boolean,
  notices: Notices,
) {
  const captures = chooseCaptures(capture);
  const wantsCode = isPrimary && (captures.provenance !== false || captures.archive !== false);
  const forbidden = new ForbiddenCaptures({ console: captures.console, code: wantsCode }, notices);
  const captured =
    isPrimary && captures.provenance !== false
      ? new CapturedProvenance(forbidden, env, captures.provenance.gitTimeoutMs)
      : undefined;
  return { captures, forbidden, captured };
}

/** What must not be captured in the namespace of a resumed run; for others the server reports it. */
async function learnForbidden(
  forbidden: ForbiddenCaptures,
  target: RunTarget,
  cairn: Cairn,
  leftMs: () => number,
): Promise<void> {
  if (target.by !== "id" || target.namespace === undefined) return;
  const found = await findForbidden(cairn, target.namespace, leftMs());
  if (found !== undefined) forbidden.learn(found);
}

function openSpool(
  options: InitOptions,
  env: NodeJS.ProcessEnv,
  notices: Notices,
  { owner, open }: { owner: Owner; open: Uint8Array },
): Spool {
  return new Spool({
    spool: options.spool ?? spoolPath(env),
    owner,
    open,
    bytesMax: options.spoolBytesMax,
    sync: options.fsync ?? "segment",
    onEvent: (event) => explainSpool(notices, event),
  });
}

function newTransmitter(
  { backoff }: InitOptions,
  notices: Notices,
  parts: {
    delivery: Delivery;
    spool: Spool;
    url: string;
    opening: PromiseWithResolvers<Opened | undefined>;
    renewLogin: () => Promise<void>;
    onBack: (awayMs: number) => void;
  },
): Transmitter {
  const { delivery, spool, url, opening } = parts;
  return new Transmitter({
    delivery,
    isEmpty: () => spool.waiting.envelopes + spool.waiting.others === 0,
    onFailure: (failure, what) => {
      if (delivery.runId === undefined && failure.code === Code.InvalidArgument) opening.reject(failure);
      explainFailure(notices, failure, what, { url, folder: spool.folder });
      // A refusal is an answer: there is nothing more to wait for.
      if (!isTransient(failure)) opening.resolve(undefined);
      if (failure.code === Code.Unauthenticated) void parts.renewLogin();
    },
    onRecovered: (awayMs) => {
      notices.forget("away");
      if (awayMs >= MISSED_MS) notices.show(`${url} is back`);
      parts.onBack(awayMs);
    },
    backoff,
  });
}

/** Waits a moment for the server to name the run, and continues after its last steps. */
async function waitUntilOpen(
  run: Run,
  delivery: Delivery,
  opening: Promise<Opened | undefined>,
  {
    cairn,
    rank,
    notices,
    leftMs,
  }: {
    cairn: Cairn;
    rank: number | undefined;
    notices: Notices;
    leftMs: () => number;
  },
): Promise<void> {
  try {
    const opened = await within(opening, leftMs());
    if (delivery.runId !== undefined && opened?.created !== true) {
      await catchUp(cairn, delivery.runId, run.recorder, rank, leftMs(), notices);
    }
  } catch (thrown) {
    run.abandon();
    throw thrown;
  }
  // Its failure is no longer relevant.
  opening.catch(() => {});
}

async function chooseTarget(
  { alias, resume, namespace = "" }: InitOptions,
  writer: string,
  jobAlias: string | undefined,
  cairn: Cairn | undefined,
  leftMs: () => number,
): Promise<RunTarget> {
  if (resume !== undefined) return findResumed(cairn, resume, namespace, leftMs());
  const given = alias ?? jobAlias;
  return given === undefined ? { by: "new", writer } : { by: "alias", alias: given };
}

/** How many of the milliseconds are left, at least 1. */
function countdown(durationMs: number): () => number {
  const deadline = performance.now() + durationMs;
  return () => Math.max(1, Math.ceil(deadline - performance.now()));
}
