import { missingVersion } from "#core/artifacts/locate.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { Artifacts } from "./artifacts.ts";
import { takePin } from "./blob-ledger.ts";
import { appendAudit } from "../access/audit.ts";
import { URGENT, type JobOptions } from "../committer.ts";
import type { Db } from "../file/db.ts";
import { ReplacedArtifacts, replacementRecord } from "./replaced-artifacts.ts";
import type { ReaderApi, WriterApi } from "../worker-api.ts";

type Writes = Pick<
  WriterApi,
  "putArtifact" | "deleteArtifact" | "restoreReplaced" | "purgeReplaced" | "expireReplaced"
>;
type Reads = Pick<
  ReaderApi,
  | "findArtifact"
  | "getArtifacts"
  | "readContent"
  | "listArtifacts"
  | "listReplaced"
  | "listUsedBlobs"
  | "listUnusedBlobs"
  | "findUsedBlobs"
>;

/** `run` is the one whose artifacts changed, by its key. */
export interface ChangedArtifacts<T> {
  run: number | undefined;
  changesAccess?: boolean;
  result: T;
}

/** The calls of the storage thread for artifacts. `change` runs its work as a whole or not at all. */
export function artifactWrites(
  change: <T>(work: (db: Db) => ChangedArtifacts<T>, options?: JobOptions) => Promise<T>,
): Writes {
  return {
    putArtifact: (runId, artifact, nowUs, audit) =>
      change((db) => {
        const artifacts = new Artifacts(db);
        const run = getKey(db, runId);
        if ("blob" in artifact) takePin(db, artifact.blob.digest, artifact.pin);
        artifacts.requireRoom(run, [artifact]);
        const { replaced } = artifacts.put(run, artifact, nowUs, audit?.principal);
        if (audit !== undefined && replaced !== undefined)
          appendAudit(db, replacementRecord(audit, replaced));
        return { run, result: artifacts.getExactly(run, runId, artifact) };
      }),
    deleteArtifact: (runId, name, step, audit) =>
      change((db) => {
        const { timeUs, principal } = audit;
        const run = getKey(db, runId);
        const removed = new ReplacedArtifacts(db).keep(run, name, step ?? "all", timeUs, principal);
        if (removed > 0) appendAudit(db, audit);
        return { run: removed > 0 ? run : undefined, result: removed };
      }, URGENT),
    restoreReplaced: ({ runId, name, version }, nowUs, audit) =>
      change((db) => {
        const artifacts = new Artifacts(db);
        const replaced = new ReplacedArtifacts(db);
        const run = getKey(db, runId);
        const taken = replaced.take(run, name, version);
        if (taken === undefined) throw missingVersion(runId, name, version);
        const { row, step } = taken;
        artifacts.requireRoom(run, [{ name, step }]);
        replaced.keep(run, name, step, nowUs, audit.principal);
        const content = row.at(-1);
        artifacts.insert(row.slice(0, -1), content instanceof Uint8Array ? content : undefined);
        appendAudit(db, audit);
        return { run, result: artifacts.getExactly(run, runId, { name, step }) };
      }),
    purgeReplaced: (runId, name, audit) =>
      change((db) => {
        const { count, changesAccess } = new ReplacedArtifacts(db).purge(getKey(db, runId), name);
        if (count > 0) appendAudit(db, audit);
        return { run: undefined, changesAccess, result: count };
      }, URGENT),
    expireReplaced: (beforeUs, limit) =>
      change((db) => {
        const { count, changesAccess } = new ReplacedArtifacts(db).expire(beforeUs, limit);
        return { run: undefined, changesAccess, result: count };
      }, URGENT),
  };
}

export function artifactReads({ db }: { db: Db }): {
  [M in keyof Reads]: (...args: Parameters<Reads[M]>) => Awaited<ReturnType<Reads[M]>>;
} {
  const artifacts = new Artifacts(db);
  return {
    findArtifact: (runId, name, step) => artifacts.find(getKey(db, runId), runId, name, step),
    getArtifacts: (places, bytesMax) => artifacts.getMany(places, bytesMax),
    readContent: (artifact) => {
      const run = findKey(db, artifact.runId);
      return run === undefined ? undefined : artifacts.readContent(run, artifact);
    },
    listArtifacts: (request) => artifacts.list(getKey(db, request.runId), request),
    listReplaced: (request) => new ReplacedArtifacts(db).list(getKey(db, request.runId), request),
    listUsedBlobs: (page) => artifacts.usedBlobsAfter(page),
    listUnusedBlobs: (limit) => artifacts.unusedBlobs(limit),
    findUsedBlobs: (digests) => artifacts.usedBlobs(digests),
  };
}

function findKey(db: Db, runId: string): number | undefined {
  const row = db.find("SELECT key FROM run WHERE id = ?", runId);
  return row === undefined ? undefined : Number(row[0]);
}

function getKey(db: Db, runId: string): number {
  const key = findKey(db, runId);
  if (key === undefined) throw new CairnError("not-found", `cannot find run ${quote(runId)}`);
  return key;
}
