import type { MessagePort } from "node:worker_threads";
import type { PlainError } from "#lang/errors.ts";
import type { Run, RunChange } from "#core/types/run.ts";
import type { KeyDescription } from "#core/types/namespace.ts";
import type { AccessStore, AuditRecord } from "#core/ports/access-store.ts";
import type { ArtifactStore } from "#core/ports/artifact-store.ts";
import type { BlobLedger } from "#core/ports/blob-ledger.ts";
import type { Engine, EngineIntegrity } from "#core/ports/engine.ts";
import type { Journal } from "#core/ports/journal.ts";
import type { Leases } from "#core/ports/leases.ts";
import type { LineageStore } from "#core/ports/lineage-store.ts";
import type { LogStore } from "#core/ports/log-store.ts";
import type { NamespaceStore } from "#core/ports/namespace-store.ts";
import type { PointStore } from "#core/ports/point-store.ts";
import type { RunStore } from "#core/ports/run-store.ts";
import type { UploadLedger } from "#core/ports/upload-ledger.ts";
import type { Appended, PackedEnvelope } from "./journal/append.ts";

/** Calls to the thread with the writing connection. */
export interface WriterApi
  extends
    Leases,
    Omit<UploadLedger, "findUploads">,
    Pick<BlobLedger, "pinBlob" | "unpinBlob" | "markBlobs" | "unmarkBlobs">,
    Pick<
      NamespaceStore,
      "createNamespace" | "updateNamespace" | "deleteNamespace" | "moveNamespace" | "trashNamespace"
    >,
    Pick<RunStore, "createRun" | "setDeleted" | "purgeRun" | "moveRun" | "expireHeartbeats">,
    Pick<Engine, "initSetting" | "close"> {
  updateRun(id: string, change: RunChange, nowUs: number, audit?: AuditRecord): Promise<Run>;
  describeKey(
    description: Parameters<NamespaceStore["describeKey"]>[0],
    nowUs: number,
    audit?: AuditRecord,
    absentIn?: readonly string[],
  ): Promise<KeyDescription>;
  append(envelopes: readonly PackedEnvelope[]): Promise<(Appended | PlainError)[]>;
  restore(file: string, keepAside: string | undefined, audit: AuditRecord): Promise<void>;
  changeAccess: AccessStore["changeAccess"];
  putArtifact: ArtifactStore["putArtifact"];
  deleteArtifact: ArtifactStore["deleteArtifact"];
  restoreReplaced: ArtifactStore["restoreReplaced"];
  purgeReplaced: ArtifactStore["purgeReplaced"];
  expireReplaced: ArtifactStore["expireReplaced"];
  deleteSeries: PointStore["deleteSeries"];
  addSource: LineageStore["addSource"];
  removeSource: LineageStore["removeSource"];
  /** Answers RunChanges on this port, too. */
  followRuns(port: MessagePort): void;
  /** Folds all that is in the log and shrinks the file. */
  settle(): Promise<void>;
  /** Answers when nothing can be written any more, with the reason. */
  failed(): Promise<PlainError>;
}

/** Calls to a thread with a reading connection. */
export interface ReaderApi
  extends
    Omit<PointStore, "deleteSeries">,
    LogStore,
    Pick<BlobLedger, "listUsedBlobs" | "listUnusedBlobs" | "findUsedBlobs">,
    Pick<UploadLedger, "findUploads">,
    Pick<Journal, "changesSince" | "readPoints">,
    Pick<
      NamespaceStore,
      | "findNamespace"
      | "listNamespaces"
      | "listRunsWithin"
      | "findObjectives"
      | "listCapturePolicies"
      | "listKeys"
    >,
    Pick<RunStore, "findRuns" | "getRuns" | "verifyRun">,
    Pick<Engine, "getSetting" | "info">,
    EngineIntegrity {
  backup(file: string): Promise<void>;
  loadAccess: AccessStore["loadAccess"];
  listAudit: AccessStore["listAudit"];
  verifyAudit: AccessStore["verifyAudit"];
  getAuditHead: AccessStore["getAuditHead"];
  findArtifact: ArtifactStore["findArtifact"];
  getArtifacts: ArtifactStore["getArtifacts"];
  readContent: ArtifactStore["readContent"];
  listArtifacts: ArtifactStore["listArtifacts"];
  listReplaced: ArtifactStore["listReplaced"];
  listSources: LineageStore["listSources"];
  listChildren: LineageStore["listChildren"];
  readLinks: LineageStore["readLinks"];
  readLinkedArtifacts: LineageStore["readLinkedArtifacts"];
  /** Answers when everything asked before has been answered. */
  finish(): void;
}

/** A store in memory has one thread that is both. */
export type WorkerRole = "writer" | "reader" | "both";

export interface WorkerStart {
  role: WorkerRole;
  file: string;
  /** How many changes the journal keeps; tests make it few. */
  changesKept?: number;
  /** A base/threads/shared-number.ts, which who writes keeps at the position of the last change; absent for a reader. */
  position?: SharedArrayBuffer;
}
