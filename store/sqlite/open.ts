import { join } from "node:path";
import { MessageChannel } from "node:worker_threads";
import { SharedNumber } from "#base/threads/shared-number.ts";
import { CairnError, fromPlainError } from "#lang/errors.ts";
import type { AccessStore, AuditRecord } from "#core/ports/access-store.ts";
import type { ArtifactStore } from "#core/ports/artifact-store.ts";
import type { BlobLedger } from "#core/ports/blob-ledger.ts";
import type { Engine, EngineCopies, EngineIntegrity } from "#core/ports/engine.ts";
import type { AppendEnvelope, AppendOutcome, Journal } from "#core/ports/journal.ts";
import type { Leases } from "#core/ports/leases.ts";
import type { LineageStore } from "#core/ports/lineage-store.ts";
import type { LogStore } from "#core/ports/log-store.ts";
import type { PointStore } from "#core/ports/point-store.ts";
import type { NamespaceStore } from "#core/ports/namespace-store.ts";
import type { RunChangesLink } from "#core/ports/run-changes.ts";
import type { RunStore } from "#core/ports/run-store.ts";
import type { UploadLedger } from "#core/ports/upload-ledger.ts";
import { lockDirectory, makeDirectory } from "./file/lock.ts";
import { buffersOf, packEnvelope } from "./journal/pack.ts";
import { artifactPort, blobLedgerPort, leasesPort, UNSEEN, uploadLedgerPort, type Calls } from "./ports.ts";
import { Readers } from "./readers.ts";
import { startThread, type StartThread, type Thread } from "./thread.ts";
import type { ReaderApi, WriterApi } from "./worker-api.ts";

export interface SqliteOptions {
  /** Created where missing; undefined keeps everything in memory and writes no file. */
  directory: string | undefined;
  /** Threads that read at most, one connection each; all but the first start when they are needed. */
  readersMax?: number;
  /** Where threads come from: tests keep theirs for the next store. */
  startThread?: StartThread;
  /** The clock, for what the store stamps itself. */
  nowUs(): number;
}

/** The last one only for short calls, while the others are busy with long ones. */
const READERS_MAX = 4;

/** Opens the embedded store. Throws `precondition` when another process uses the directory. */
export async function openSqlite(options: SqliteOptions): Promise<SqliteStore> {
  const { directory, startThread: start = startThread } = options;
  const last = new SharedNumber();
  if (directory === undefined) {
    const own = { role: "both", file: ":memory:", position: last.buffer } as const;
    const thread = await start<WriterApi & ReaderApi>(own);
    const same = () => Promise.resolve(thread);
    const readers = new Readers(same(), { start: same, max: 1 });
    return new SqliteStore(options, last, { writer: thread, readers }, undefined);
  }
  makeDirectory(directory);
  const lock = lockDirectory(directory);
  try {
    const file = join(directory, "cairn.db");
    const opening = start<WriterApi>({ role: "writer", file, position: last.buffer });
    const readers = openReaders(options, file, opening);
    return new SqliteStore(options, last, { writer: await opening, readers }, { file, lock });
  } catch (thrown) {
    lock.release();
    throw thrown;
  }
}

/** The first opens its connection after `turn`. */
function openReaders(
  { startThread: start = startThread, readersMax = READERS_MAX }: SqliteOptions,
  file: string,
  turn?: Promise<unknown>,
): Readers {
  const open = (after?: Promise<unknown>) => start<ReaderApi>({ role: "reader", file }, after);
  return new Readers(open(turn), { start: () => open(), max: readersMax });
}

interface Waiting {
  envelope: AppendEnvelope;
  nowUs: number;
  resolve(outcome: AppendOutcome): void;
}

/** The calling side: runs on the thread that serves requests and only passes calls on. */
export class SqliteStore
  implements
    Engine,
    EngineCopies,
    EngineIntegrity,
    Journal,
    NamespaceStore,
    RunStore,
    PointStore,
    AccessStore,
    LineageStore,
    LogStore
{
  readonly copies = this;
  readonly integrity = this;
  readonly #options: SqliteOptions;
  /** The position of the last change, which the writer sets before it acknowledges. */
  readonly #last: SharedNumber;
  readonly #writer: Thread<WriterApi>;
  readonly #disk: { file: string; lock: { release(): void } } | undefined;
  /** Resolves when nothing can be written any more, with the reason; else never. */
  readonly failed: Promise<CairnError>;
  #readers: Readers;
  #waiting: Waiting[] = [];
  #closed = false;
  readonly #subscribers = new Set<() => void>();
  #closing: Promise<void> | undefined;
  /** Set once nothing is to be written any more, though the storage could. */
  #stopped: CairnError | undefined;
  /** Set while the store is being replaced; calls wait for it. */
  #restoring: Promise<void> | undefined;

  constructor(
    options: SqliteOptions,
    last: SharedNumber,
    { writer, readers }: { writer: Thread<WriterApi>; readers: Readers },
    disk: { file: string; lock: { release(): void } } | undefined,
  ) {
    this.#options = options;
    this.#last = last;
    this.#writer = writer;
    this.#readers = readers;
    this.#disk = disk;
    this.failed = new Promise((resolve) => {
      const fail = (thrown: unknown) => {
        if (!this.#closed) resolve(CairnError.from(thrown));
      };
      writer.caller.call("failed", []).then((plain) => fail(fromPlainError(plain)), fail);
    });
  }

  createNamespace: NamespaceStore["createNamespace"] = (...args) => this.#write("createNamespace", args);
  updateNamespace: NamespaceStore["updateNamespace"] = (...args) => this.#write("updateNamespace", args);
  deleteNamespace: NamespaceStore["deleteNamespace"] = (...args) => this.#write("deleteNamespace", args);
  trashNamespace: NamespaceStore["trashNamespace"] = (...args) => this.#write("trashNamespace", args);
  moveNamespace: NamespaceStore["moveNamespace"] = (...args) => this.#write("moveNamespace", args);
  createRun: RunStore["createRun"] = (...args) => this.#write("createRun", args);
  updateRun: RunStore["updateRun"] = (...args) => this.#write("updateRun", args);
  setDeleted: RunStore["setDeleted"] = (...args) => this.#write("setDeleted", args);
  moveRun: RunStore["moveRun"] = (...args) => this.#write("moveRun", args);
  purgeRun: RunStore["purgeRun"] = (...args) => this.#write("purgeRun", args);
  expireHeartbeats: RunStore["expireHeartbeats"] = (...args) => this.#write("expireHeartbeats", args);
  initSetting: Engine["initSetting"] = (...args) => this.#write("initSetting", args);

  findObjectives: NamespaceStore["findObjectives"] = (...args) => this.#read("findObjectives", args);
  findNamespace: NamespaceStore["findNamespace"] = (...args) => this.#read("findNamespace", args);
  listNamespaces: NamespaceStore["listNamespaces"] = (...args) => this.#read("listNamespaces", args);
  listCapturePolicies: NamespaceStore["listCapturePolicies"] = () => this.#read("listCapturePolicies", []);
  findRuns: RunStore["findRuns"] = (...args) => this.#read("findRuns", args);
  getRuns: RunStore["getRuns"] = (ids, options, signal) => this.#read("getRuns", [ids, options], signal);
  verifyRun: RunStore["verifyRun"] = (id, bytesMax, signal) =>
    this.#read("verifyRun", [id, bytesMax], signal);
  listRunsWithin: NamespaceStore["listRunsWithin"] = (...args) => this.#read("listRunsWithin", args);
  listKeys: NamespaceStore["listKeys"] = (...args) => this.#read("listKeys", args);
  getSetting: Engine["getSetting"] = (...args) => this.#read("getSetting", args);
  info: Engine["info"] = (...args) => this.#read("info", args);
  checkIntegrity: EngineIntegrity["checkIntegrity"] = (signal) => this.#read("checkIntegrity", [], signal);
  selectSeries: PointStore["selectSeries"] = (request, signal) =>
    this.#read("selectSeries", [request], signal);
  listLabels: PointStore["listLabels"] = (request, signal) => this.#read("listLabels", [request], signal);
  deleteSeries: PointStore["deleteSeries"] = (...args) => this.#write("deleteSeries", args);
  readSeries: PointStore["readSeries"] = (request, signal) => this.#read("readSeries", [request], signal);
  listMetricKeys: PointStore["listMetricKeys"] = (request, signal) =>
    this.#read("listMetricKeys", [request], signal);
  readGroups: PointStore["readGroups"] = (request, signal) => this.#read("readGroups", [request], signal);
  listHosts: PointStore["listHosts"] = (...args) => this.#read("listHosts", args);
  readLog: LogStore["readLog"] = (request, signal) => this.#read("readLog", [request], signal);
  searchLog: LogStore["searchLog"] = (request, signal) => this.#read("searchLog", [request], signal);
  lineCount: LogStore["lineCount"] = (...args) => this.#read("lineCount", args);

  changeAccess: AccessStore["changeAccess"] = (...args) => this.#write("changeAccess", args);
  loadAccess: AccessStore["loadAccess"] = (...args) => this.#read("loadAccess", args);
  listAudit: AccessStore["listAudit"] = (...args) => this.#read("listAudit", args);
  verifyAudit: AccessStore["verifyAudit"] = (signal) => this.#read("verifyAudit", [], signal);
  getAuditHead: AccessStore["getAuditHead"] = () => this.#read("getAuditHead", []);

  readonly #writes: Calls<WriterApi> = (method, args) => this.#write(method, args as never) as never;
  readonly #reads: Calls<ReaderApi> = (method, args) => this.#read(method, args as never) as never;
  readonly artifacts: ArtifactStore = artifactPort(this.#writes, this.#reads);
  readonly blobLedger: BlobLedger = blobLedgerPort(this.#writes, this.#reads);
  readonly uploadLedger: UploadLedger = uploadLedgerPort(this.#writes, this.#reads);
  readonly leases: Leases = leasesPort(this.#writes);

  addSource: LineageStore["addSource"] = (...args) => this.#write("addSource", args);
  removeSource: LineageStore["removeSource"] = (...args) => this.#write("removeSource", args);
  listSources: LineageStore["listSources"] = (...args) => this.#read("listSources", args);
  listChildren: LineageStore["listChildren"] = (...args) => this.#read("listChildren", args);
  readLinks: LineageStore["readLinks"] = (request, signal) => this.#read("readLinks", [request], signal);
  readLinkedArtifacts: LineageStore["readLinkedArtifacts"] = (...args) =>
    this.#read("readLinkedArtifacts", args);

  changesSince: Journal["changesSince"] = (...args) => this.#read("changesSince", args);
  readPoints: Journal["readPoints"] = (...args) => this.#read("readPoints", args);
  position: Journal["position"] = () => this.#last.value;

  describeKey: NamespaceStore["describeKey"] = (description, audit, absentIn) =>
    this.#write("describeKey", [description, this.#options.nowUs(), audit, absentIn]);

  async backup(file: string, audit?: AuditRecord): Promise<void> {
    if (audit !== undefined) await this.#write("changeAccess", [[], [audit]]);
    await this.#read("backup", [file]);
  }

  subscribe(wake: () => void): () => void {
    const own = () => wake();
    this.#subscribers.add(own);
    return () => this.#subscribers.delete(own);
  }

  /** Something was acknowledged, or may have been: subscribers must look. */
  #noteChange(): void {
    for (const wake of this.#subscribers) wake();
  }

  /** From now on writes are refused with `error`; reads continue. */
  stopWriting(error: CairnError): void {
    this.#stopped ??= error;
  }

  async append(envelopes: readonly AppendEnvelope[], nowUs: number): Promise<AppendOutcome[]> {
    await this.#open();
    if (this.#stopped !== undefined) throw this.#stopped;
    return Promise.all(
      envelopes.map(
        (envelope) =>
          new Promise<AppendOutcome>((resolve) => {
            // All calls of this turn of the event loop are sent in one message.
            if (this.#waiting.push({ envelope, nowUs, resolve }) === 1) setImmediate(() => this.#send());
          }),
      ),
    );
  }

  /** For one more follower of what changes of runs. */
  async followRuns(): Promise<RunChangesLink> {
    await this.#open();
    const { port1, port2 } = new MessageChannel();
    await this.#writer.caller.call("followRuns", [port2], { transfer: [port2] });
    return { port: port1, position: this.#last.buffer };
  }

  /** Moves the whole log into chunks and makes the file as small as it gets. For tests and benches. */
  settle(): Promise<void> {
    return this.#write("settle", []);
  }

  async restore(copy: string, options: { keepAside?: string; audit: AuditRecord }): Promise<void> {
    const disk = this.#disk;
    if (disk === undefined) {
      throw new CairnError("precondition", "cannot restore into a store in memory", {
        reason: "NO_DIRECTORY",
        hint: "start the server with --data DIR",
      });
    }
    const earlier = this.#restoring;
    const replace = async () => {
      // Calls that were made before this one go first, those that are made from now on wait.
      await earlier;
      this.#requireOpen();
      this.#send();
      await this.#readers.stop();
      try {
        await this.#writer.caller.call("restore", [copy, options.keepAside, options.audit]);
      } finally {
        this.#readers = openReaders(this.#options, disk.file);
        await this.#readers.starting;
        this.#noteChange();
      }
    };
    const replacing = replace();
    const done = replacing
      .catch(() => undefined)
      .finally(() => {
        if (this.#restoring === done) this.#restoring = undefined;
      });
    this.#restoring = done;
    await replacing;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    do await this.#open();
    while (this.#restoring !== undefined);
    this.#closed = true;
    this.#send();
    const stopped = this.#disk === undefined ? undefined : this.#readers.stop();
    try {
      await this.#writer.caller.call("close", []);
    } finally {
      await Promise.all([stopped, this.#writer.stop()]);
      this.#disk?.lock.release();
    }
  }

  async #write<M extends keyof WriterApi>(
    method: M,
    args: Parameters<WriterApi[M]> extends infer A ? A : never,
  ): Promise<Awaited<ReturnType<WriterApi[M]>>> {
    await this.#open();
    if (this.#stopped !== undefined) throw this.#stopped;
    // Envelopes that were handed in before this call are to be applied before it.
    this.#send();
    try {
      return (await this.#writer.caller.call(method, args as never)) as never;
    } finally {
      if (!UNSEEN.has(method)) this.#noteChange();
    }
  }

  async #read<M extends keyof ReaderApi>(
    method: M,
    args: Parameters<ReaderApi[M]>,
    signal?: AbortSignal,
  ): Promise<Awaited<ReturnType<ReaderApi[M]>>> {
    await this.#open();
    return this.#readers.call(method, args, signal);
  }

  async #open(): Promise<void> {
    while (this.#restoring !== undefined) await this.#restoring;
    this.#requireOpen();
  }

  #requireOpen(): void {
    if (this.#closed) throw new CairnError("unavailable", "cannot use the store: it is closed");
  }

  #send(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    const packed: ReturnType<typeof packEnvelope>[] = [];
    const resolves: Waiting["resolve"][] = [];
    for (const { envelope, nowUs, resolve } of waiting) {
      try {
        packed.push(packEnvelope(envelope, nowUs));
        resolves.push(resolve);
      } catch (thrown) {
        resolve({ ok: false, error: CairnError.from(thrown) });
      }
    }
    if (packed.length === 0) return;
    this.#writer.caller.call("append", [packed], { transfer: buffersOf(packed) }).then(
      (outcomes) => {
        // Points of hosts are not a change, and arrive all the time.
        if (outcomes.some((outcome) => "ack" in outcome && outcome.position !== undefined))
          this.#noteChange();
        outcomes.forEach((outcome, i) => {
          const ok = "ack" in outcome;
          resolves[i]!(ok ? { ok, ...outcome } : { ok, error: fromPlainError(outcome) });
        });
      },
      (thrown: unknown) => {
        this.#noteChange();
        const error = CairnError.from(thrown);
        for (const resolve of resolves) resolve({ ok: false, error });
      },
    );
  }
}
