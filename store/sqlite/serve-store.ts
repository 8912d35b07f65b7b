import { rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";
import { isDeepStrictEqual } from "node:util";
import { SharedNumber } from "#base/threads/shared-number.ts";
import { serveCalls, Transferred, type Endpoint, type Handlers } from "#base/threads/worker-call.ts";
import { withFacts } from "#core/access/audit/audit-record.ts";
import { CairnError, toPlainError, type PlainError } from "#lang/errors.ts";
import type { AuditRecord } from "#core/ports/access-store.ts";
import { CHANGED } from "#core/ports/journal.ts";
import type { ReadSeriesResult } from "#core/ports/point-store.ts";
import { serveRunChanges } from "#core/runs/run-changes-link.ts";
import { changedFields } from "#core/runs/run-difference.ts";
import { changeAccess, dropNamespaceAccess, loadAccess } from "./access/access.ts";
import { appendAudit, auditHead, listAudit, verifyAudit } from "./access/audit.ts";
import { carryAudit } from "./access/carry-audit.ts";
import { artifactReads, artifactWrites } from "./artifacts/artifact-calls.ts";
import { blobWrites } from "./artifacts/blob-ledger.ts";
import { findUploads, uploadWrites } from "./artifacts/upload-ledger.ts";
import { URGENT, type JobOptions } from "./committer.ts";
import { Db } from "./file/db.ts";
import type { Held } from "./file/held-tables.ts";
import { checkCopy, replaceFile, stageCopy } from "./file/restore.ts";
import { leaseWrites } from "./leases.ts";
import { changesSince, readJournalPoints } from "./journal/journal.ts";
import { findSetting, initSetting } from "./file/settings.ts";
import { lightened } from "./runs/runs.ts";
import { Hosts } from "./series/hosts.ts";
import type { Namespaces } from "./runs/namespaces.ts";
import { Runs } from "./runs/runs.ts";
import { Sources } from "./runs/sources.ts";
import { StoreReader } from "./store-reader.ts";
import type { ReaderApi, WorkerStart, WriterApi } from "./worker-api.ts";
import { StoreWriter } from "./writer.ts";

/**
 * Opens the connection of a storage thread and answers calls on `port`, after the greeting "ready" or the reason why it
 * cannot be opened. Returns how to close the connection; a thread that ends need not.
 */
export function serveStore(port: Endpoint, start: WorkerStart): () => void {
  let close = (): void => undefined;
  try {
    if (start.role === "reader") {
      const reader = new StoreReader(start.file, Db.open(start.file, { readOnly: true }));
      close = () => reader.db.close();
      serveCalls<ReaderApi>(port, readerHandlers(reader), toPlainError);
    } else {
      const writer = new OpenWriter(start, new SharedNumber(start.position));
      close = () => writer.closeNow();
      if (start.role === "writer") serveCalls<WriterApi>(port, writerHandlers(writer), toPlainError);
      else {
        const both = { ...writerHandlers(writer), ...readerHandlers(writer.now.reader()) };
        serveCalls<WriterApi & ReaderApi>(port, both, toPlainError);
      }
    }
    port.postMessage("ready");
  } catch (thrown) {
    port.postMessage(toPlainError(thrown));
  }
  return close;
}

/** The writer of a thread, which a restore replaces. */
class OpenWriter {
  readonly #file: string;
  readonly #changesKept: number | undefined;
  readonly #position: SharedNumber;
  readonly #followers: MessagePort[] = [];
  readonly #failed = Promise.withResolvers<PlainError>();
  now: StoreWriter;

  constructor({ file, changesKept }: WorkerStart, position: SharedNumber) {
    this.#file = file;
    this.#changesKept = changesKept;
    this.#position = position;
    this.now = this.#open();
  }

  get failed(): Promise<PlainError> {
    return this.#failed.promise;
  }

  restore(copy: string, keepAside: string | undefined, audit: AuditRecord): void {
    checkCopy(copy);
    const staged = stageCopy(this.#file, copy);
    let held: Held = new Map();
    try {
      if (keepAside !== undefined) this.now.backup(keepAside);
      held = this.now.held();
      this.now.close();
      carryAudit(this.#file, staged, this.now.lastPosition, audit);
      replaceFile(this.#file, staged);
    } finally {
      rmSync(staged, { force: true });
      if (this.now.closed) {
        this.now = this.#open();
        this.now.hold(held);
      }
    }
  }

  /** Answers RunChanges on this port, too. */
  follow(port: MessagePort): void {
    this.#followers.push(port);
    serveRunChanges(port, (mark) => this.now.runsSince(mark));
  }

  closeNow(): void {
    this.now.close();
    for (const port of this.#followers.splice(0)) port.close();
  }

  async close(): Promise<void> {
    this.now.close();
    // Answers to what was accepted go out first.
    await setImmediate();
    this.closeNow();
  }

  #open(): StoreWriter {
    return new StoreWriter(this.#file, this.#position, {
      changesKept: this.#changesKept,
      onFailure: (error) => this.#failed.resolve(toPlainError(error)),
    });
  }
}

function writerHandlers(writer: OpenWriter): Handlers<WriterApi> {
  const inGroup = <T>(work: (db: Db) => T, options?: JobOptions) =>
    writer.now.change((_, db) => work(db), options);
  const held = <T>(work: (db: Db) => T) => writer.now.changeHeld(work);
  return {
    ...namespaceWrites((work, options) => writer.now.change(work, options)),
    initSetting: (name, value) => writer.now.change((_, db) => initSetting(db, name, value)),
    createRun: async (run, { getOrCreate }) => {
      const { stored, created } = await writer.now.changeRun((runs) => runs.create(run, getOrCreate));
      return { run: stored.run, created };
    },
    updateRun: async (id, change, nowUs, audit) => {
      const { stored } = await writer.now.changeRun((runs, db) => {
        const key = runs.getKey(id);
        runs.requireWritable(key);
        const updated = runs.update(key, change, nowUs, audit?.principal);
        const fields = audit === undefined ? [] : changedFields(updated.before, updated.run);
        if (audit !== undefined && fields.length > 0) {
          appendAudit(db, withFacts(audit, { fields: fields.join(" ") }));
        }
        // Light before the group is committed: hundreds of updates may be in it.
        return { stored: { key: updated.key, run: lightened(updated.run) } };
      });
      return stored.run;
    },
    setDeleted: async (id, deletedUs, audit) => {
      const { stored } = await writer.now.changeRun((runs, db) => {
        const key = runs.getKey(id);
        runs.requireWritable(key);
        const before = runs.getLight(key).run.deletedUs;
        if ((before === undefined) !== (deletedUs === undefined)) appendAudit(db, audit);
        return { stored: runs.setDeleted(key, deletedUs, audit.principal) };
      }, URGENT);
      return stored.run;
    },
    moveRun: (...asked) => writer.now.move((moves) => moves.run(...asked)),
    trashNamespace: (...asked) => writer.now.move((moves) => moves.trashNamespace(...asked), URGENT),
    moveNamespace: (...asked) => writer.now.move((moves) => moves.namespace(...asked)),
    purgeRun: (id, audit) => writer.now.purgeRun(id, audit),
    deleteSeries: (request, audit) => writer.now.deleteSeries(request, audit),
    changeAccess: (...asked) =>
      writer.now.change((_, db, journal) => changeAccess(db, journal, ...asked), URGENT),
    ...artifactWrites((work, options) => writer.now.changeArtifacts(work, options)),
    ...leaseWrites(held),
    ...blobWrites(inGroup, held),
    ...uploadWrites(inGroup, held),
    ...sourceWrites((work, options) => writer.now.change(work, options)),
    expireHeartbeats: (nowUs) => writer.now.expireHeartbeats(nowUs),
    append: async (envelopes) => {
      const outcomes = await writer.now.append(envelopes);
      return outcomes.map((outcome) => (outcome instanceof CairnError ? toPlainError(outcome) : outcome));
    },
    followRuns: (port) => writer.follow(port),
    settle: () => writer.now.settle(),
    failed: () => writer.failed,
    restore: (copy, keepAside, audit) => writer.restore(copy, keepAside, audit),
    close: () => writer.close(),
  };
}

type NamespaceCall = "createNamespace" | "updateNamespace" | "deleteNamespace" | "describeKey";

function namespaceWrites(write: StoreWriter["change"]): Pick<Handlers<WriterApi>, NamespaceCall> {
  return {
    createNamespace: (namespace, audit) =>
      write((namespaces, db) => {
        const created = namespaces.create(namespace);
        if (audit !== undefined) appendAudit(db, audit);
        return created;
      }),
    updateNamespace: (path, change, audit) =>
      write((namespaces, db) => {
        const before = namespaces.find(path);
        const updated = namespaces.update(path, change);
        if (audit !== undefined && !isDeepStrictEqual(before, updated)) appendAudit(db, audit);
        return updated;
      }),
    deleteNamespace: (path, audit, options) =>
      write((namespaces, db, journal) => {
        namespaces.delete(path, options);
        if (dropNamespaceAccess(db, path)) journal.noteOutside(CHANGED.access);
        appendAudit(db, audit);
      }, URGENT),
    describeKey: (description, nowUs, audit, absentIn) =>
      write((namespaces, db) => {
        const { held, changed } = namespaces.describeKey(description, nowUs, absentIn);
        if (audit !== undefined && changed) appendAudit(db, audit);
        return held;
      }),
  };
}

function sourceWrites(write: StoreWriter["change"]): Pick<Handlers<WriterApi>, "addSource" | "removeSource"> {
  return {
    addSource: (link, audit) =>
      write((namespaces, db) => {
        requireRunWritable(db, namespaces, link.childId);
        return new Sources(db).add(link, audit);
      }),
    removeSource: (link, audit) =>
      write((namespaces, db) => {
        requireRunWritable(db, namespaces, link.childId);
        return new Sources(db).remove(link, audit);
      }, URGENT),
  };
}

/** A run that is missing is not refused here. */
function requireRunWritable(db: Db, namespaces: Namespaces, id: string): void {
  const runs = new Runs(db, namespaces);
  const key = runs.findKey(id);
  if (key !== undefined) runs.requireWritable(key);
}

function readerHandlers(reader: StoreReader): Handlers<ReaderApi> {
  return {
    findObjectives: (paths) => reader.namespaces.findObjectives(paths),
    findNamespace: (path) => reader.namespaces.find(path),
    listCapturePolicies: () => reader.namespaces.capturePolicies(),
    listNamespaces: (page) => reader.namespaces.list(page),
    listRunsWithin: (path, limit) => reader.runs.listWithin(path, limit),
    listKeys: (namespaces, page) => reader.namespaces.listKeys(namespaces, page),
    findRuns: (ref, options) => reader.runs.find(ref, options),
    getRuns: (ids, options) => reader.runs.getMany(ids, options),
    getSetting: (name) => findSetting(reader.db, name),
    verifyRun: (id, bytesMax) => reader.verifyRun(id, bytesMax),
    info: () => reader.info(),
    checkIntegrity: () => reader.checkIntegrity(),
    backup: (target) => reader.backup(target),
    selectSeries: (request) => reader.series.select(request),
    listLabels: (request) => reader.series.labels(request),
    listMetricKeys: (request) => reader.series.keys(request),
    listHosts: (page) => new Hosts(reader.db).list(page),
    readLog: (request) => reader.lines.read(request),
    searchLog: (request) => reader.lines.search(request),
    lineCount: (runId) => reader.lines.count(runId),
    loadAccess: () => reader.series.snapshot(() => loadAccess(reader.db)),
    listAudit: (request) => listAudit(reader.db, request),
    getAuditHead: () => auditHead(reader.db),
    verifyAudit: () => reader.series.snapshot(() => verifyAudit(reader.db)),
    ...artifactReads(reader),
    findUploads: (ids) => findUploads(reader.db, ids),
    listSources: (request) => new Sources(reader.db).ofChild(request),
    listChildren: (request) => new Sources(reader.db).ofSources(request),
    readLinks: (request) => new Sources(reader.db).read(request),
    readLinkedArtifacts: (request) => new Sources(reader.db).artifactsOf(request),
    changesSince: (...asked) => reader.series.snapshot(() => changesSince(reader.db, ...asked)),
    readPoints: (request) => reader.series.snapshot(() => readJournalPoints(reader.db, request)),
    finish: () => undefined,
    readSeries: (request) => {
      const result = reader.series.read(request);
      return new Transferred(result, buffersOf(result));
    },
    readGroups: (request) => {
      const result = reader.series.groups(request);
      const columns = result.groups.flatMap(({ quantiles, ...rest }) => [
        ...Object.values(rest),
        ...quantiles,
      ]);
      return new Transferred(result, ownBuffers(columns));
    },
  };
}

function buffersOf(result: ReadSeriesResult): ArrayBuffer[] {
  return ownBuffers(
    result.series.flatMap(({ data }) =>
      data.form === "band"
        ? Object.values(data)
        : [data.replaced, ...Object.values(data.points), data.points.values.data],
    ),
  );
}

/** The buffers that are these columns' alone: each one whole and not shared with a cached chunk. */
function ownBuffers(columns: readonly unknown[]): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const column of columns) {
    if (!ArrayBuffer.isView(column)) continue;
    if (column.buffer instanceof ArrayBuffer && column.byteLength === column.buffer.byteLength) {
      buffers.add(column.buffer);
    }
  }
  return [...buffers];
}
