import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { CreateRunRequestSchema } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "./client.ts";
import { Delivery, type DeliveryCounts } from "./delivery/delivery.ts";
import type { OnUploadProgress } from "./delivery/upload.ts";
import type { Failure } from "./failure.ts";
import { Attempts } from "./retry.ts";
import { DeadSpool } from "./spool/dead-spool.ts";
import { FRAME_KIND } from "./spool/frame.ts";
import { isOwnerAlive, keepServer, readOwner, spoolPath } from "./spool/owner.ts";
import { isWriterName, listWriters } from "./spool/segments.ts";
import { refusedFrames, type RefusedFrame } from "./spool/set-aside.ts";

export { discardRefused, type RefusedFrame } from "./spool/set-aside.ts";

export interface SyncOptions {
  /** Makes the client of a server; "" when the folder does not say which one it belongs to, or none was set. */
  connect(server: string): Promise<Cairn>;
  /** Only reports what is there. */
  dryRun?: boolean | undefined;
  /** For the owner itself, which has stopped writing. */
  evenIfAlive?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** How long to retry a server that accepts nothing. */
  patienceMs?: number | undefined;
  onEnvelope?(): void;
  onUploadProgress?: OnUploadProgress | undefined;
  /** Something will never be delivered. */
  onRefused?(what: string, why: string, kept: string | undefined): void;
}

/** The delivery of one folder of the spool. */
export interface SyncReport extends DeliveryCounts {
  folder: string;
  writer: string;
  /** Where it goes, or would go by itself. */
  server: string;
  /** False when the job ran without any server set, and none has taken its data yet: `connect` chooses one. */
  serverSet: boolean;
  runId: string | undefined;
  /** Its process may still be writing: the folder was left alone. */
  isAlive: boolean;
  /** Everything that can be read was delivered, or refused for good. */
  isDone: boolean;
  /** Frames that are left, as far as they were counted. */
  left: number;
  /** Places with frames that cannot be read. */
  damages: number;
  /** What the server refused for good, now or before: it is kept until `discardRefused(folder)`. */
  refusedFrames: RefusedFrame[];
  failure: Failure | Error | undefined;
}

const PATIENCE_MS = 3_000;

/**
 * Delivers the data of processes that have ended: `dir` is a spool, or the folder of one writer in it. Folders whose
 * process is alive are left alone. One report for each, in the order of their names.
 */
export async function sync(dir: string | undefined, options: SyncOptions): Promise<SyncReport[]> {
  const reports: SyncReport[] = [];
  for (const folder of foldersOf(dir ?? spoolPath())) {
    if (options.signal?.aborted === true) break;
    reports.push(await syncWriter(folder, options));
  }
  return reports;
}

/** The folders of writers that `dir` means. */
export function foldersOf(dir: string): string[] {
  if (isWriterName(basename(dir))) return [dir];
  return listWriters(dir).map((writer) => join(dir, writer));
}

export async function syncWriter(folder: string, options: SyncOptions): Promise<SyncReport> {
  const report: SyncReport = {
    folder,
    writer: basename(folder),
    server: "",
    serverSet: true,
    runId: undefined,
    isAlive: false,
    isDone: false,
    left: 0,
    damages: 0,
    refusedFrames: [],
    failure: undefined,
    envelopes: 0,
    duplicates: 0,
    lost: 0,
    refused: 0,
    uploads: 0,
    sources: 0,
    descriptions: 0,
    skipped: 0,
  };
  try {
    const owner = readOwner(folder);
    report.server = owner?.server ?? "";
    report.serverSet = owner?.serverSet ?? true;
    report.refusedFrames = refusedFrames(folder);
    report.isAlive = options.evenIfAlive !== true && isOwnerAlive(folder, owner);
    const counted = count(folder);
    report.left = counted.frames;
    report.damages = counted.damages;
    report.runId = counted.runName;
    if (report.isAlive || options.dryRun === true) return report;
    await deliver(folder, report, options);
  } catch (thrown) {
    // The process that delivers the last of a folder removes it: another one was faster.
    if (existsSync(folder)) report.failure = thrown instanceof Error ? thrown : new Error(String(thrown));
    else Object.assign(report, { isDone: true, left: 0 });
  }
  return report;
}

/** What is there to deliver. Throws NewerSpool before anything was touched. */
function count(folder: string): { frames: number; damages: number; runName: string | undefined } {
  const spool = new DeadSpool(folder, { keep: true });
  let total = 0;
  let runName: string | undefined;
  for (let frames = spool.read(); frames !== undefined; frames = spool.read()) {
    for (const { kind, body } of frames) {
      if (kind !== FRAME_KIND.open) total++;
      else runName ??= nameOf(body);
    }
  }
  return { frames: total, damages: spool.damages, runName };
}

function nameOf(open: Buffer): string | undefined {
  try {
    const { name, aliases } = fromBinary(CreateRunRequestSchema, open);
    return name || aliases[0];
  } catch {
    return undefined;
  }
}

async function deliver(folder: string, report: SyncReport, options: SyncOptions): Promise<void> {
  const { signal = new AbortController().signal, patienceMs = PATIENCE_MS } = options;
  const cairn = await options.connect(report.serverSet ? report.server : "");
  report.server = cairn.url;
  const source = new DeadSpool(folder);
  const total = report.left;
  const attempts = new Attempts({ signal, patienceMs, url: cairn.url });
  const reached = new Map<string, number>();
  const delivery = new Delivery({
    cairn,
    source,
    // Part of it is there now: another attempt goes there, too.
    onAnswer: () => keepServer(folder, cairn.url),
    ...(options.onRefused !== undefined && { onRefused: options.onRefused }),
    onEnvelope: () => {
      attempts.progressed();
      options.onEnvelope?.();
    },
    onUploadProgress: (order, sentBytes) => {
      if (sentBytes > (reached.get(order.sha256) ?? 0)) attempts.progressed();
      reached.set(order.sha256, sentBytes);
      options.onUploadProgress?.(order, sentBytes);
    },
  });
  const note = () => {
    const { counts } = delivery;
    const { envelopes, refused, uploads, sources, descriptions, skipped } = counts;
    Object.assign(report, counts, {
      runId: delivery.runId ?? report.runId,
      left: total - envelopes - refused - uploads - sources - descriptions - skipped,
    });
  };
  try {
    while (!(await tryDelivery(delivery, attempts, signal)));
    report.isDone = true;
  } finally {
    note();
    report.refusedFrames = refusedFrames(folder);
    source.close();
  }
}

/** Whether everything was delivered. Throws failures that waiting does not change. */
async function tryDelivery(delivery: Delivery, attempts: Attempts, signal: AbortSignal): Promise<boolean> {
  try {
    await delivery.drain(signal);
    await delivery.drainUploads(signal);
    return true;
  } catch (thrown) {
    await attempts.wait(thrown);
    return false;
  }
}
