import { CairnError, quote } from "#core/errors.ts";
import { dropArtifactAccess } from "./access.ts";
import { Artifacts } from "./artifacts.ts";
import { appendAudit } from "./audit.ts";
import { URGENT, type JobOptions } from "./committer.ts";
import type { Db } from "./db.ts";
import type { ReaderApi, WriterApi } from "./worker-api.ts";

type Writes = Pick<WriterApi, "putArtifact" | "deleteArtifact" | "forgetUnusedBlobs">;
type Reads = Pick<
  ReaderApi,
  "findArtifact" | "readContent" | "listArtifacts" | "listUsedBlobs" | "listUnusedBlobs" | "findUsedBlobs"
>;

/** What the storage thread answers about artifacts. `change` runs its work as a whole or not at all. */
export function artifactWrites(change: <T>(work: (db: Db) => T, options?: JobOptions) => Promise<T>): Writes {
  return {
    putArtifact: (runId, artifact, nowUs) =>
      change((db) => {
        const artifacts = new Artifacts(db);
        const run = getKey(db, runId);
        artifacts.requireRoom(run, [artifact]);
        artifacts.put(run, artifact, nowUs);
        return artifacts.getExactly(run, runId, artifact);
      }),
    deleteArtifact: (runId, name, step, audit) =>
      change((db) => {
        const artifacts = new Artifacts(db);
        const run = getKey(db, runId);
        const removed = artifacts.remove(run, name, step);
        if (removed === 0) return 0;
        if (!artifacts.hasName(run, name)) dropArtifactAccess(db, runId, name);
        appendAudit(db, audit);
        return removed;
      }, URGENT),
    forgetUnusedBlobs: (digests) => change((db) => new Artifacts(db).forgetUnusedBlobs(digests), URGENT),
  };
}

export function artifactReads({ db }: { db: Db }): {
  [M in keyof Reads]: (...args: Parameters<Reads[M]>) => Awaited<ReturnType<Reads[M]>>;
} {
  const artifacts = new Artifacts(db);
  return {
    findArtifact: (runId, name, step) => artifacts.find(getKey(db, runId), runId, name, step),
    readContent: (artifact) => {
      const run = findKey(db, artifact.runId);
      return run === undefined ? undefined : artifacts.readContent(run, artifact);
    },
    listArtifacts: (request) => artifacts.list(getKey(db, request.runId), request),
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
