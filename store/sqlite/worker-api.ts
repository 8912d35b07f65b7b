import type { PlainError } from "#core/errors.ts";
import type { EnvelopeAck } from "#core/model/envelope.ts";
import type { Run, RunChange } from "#core/model/run.ts";
import type { PointStore } from "#core/ports/point-store.ts";
import type { RunStore } from "#core/ports/run-store.ts";
import type { PackedEnvelope } from "./append.ts";

/** What the thread with the writing connection answers. */
export interface WriterApi extends Pick<
  RunStore,
  | "createNamespace"
  | "updateNamespace"
  | "deleteNamespace"
  | "createRun"
  | "setDeleted"
  | "purgeRun"
  | "expireHeartbeats"
  | "initSetting"
  | "publish"
  | "close"
> {
  updateRun(id: string, change: RunChange, nowUs: number): Promise<Run>;
  describeKey(description: Parameters<RunStore["describeKey"]>[0], nowUs: number): Promise<void>;
  append(envelopes: readonly PackedEnvelope[]): Promise<(EnvelopeAck | PlainError)[]>;
  restore(file: string, keepAside: string | undefined): Promise<void>;
  /** Folds all that is in the log and shrinks the file. */
  settle(): Promise<void>;
}

/** What a thread with a reading connection answers. */
export interface ReaderApi
  extends
    PointStore,
    Pick<
      RunStore,
      | "findNamespace"
      | "listNamespaces"
      | "findRuns"
      | "getRuns"
      | "verifyRun"
      | "listKeys"
      | "getSetting"
      | "info"
      | "checkIntegrity"
      | "backup"
    > {
  /** Answers when everything asked before has been answered. */
  finish(): void;
}

/** A store in memory has one thread that is both. */
export type WorkerRole = "writer" | "reader" | "both";

export interface WorkerStart {
  role: WorkerRole;
  file: string;
}
