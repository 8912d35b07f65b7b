import type { Clock } from "#base/clock.ts";
import { countOf } from "#lang/words/numbers.ts";
import { auditRecord } from "../access/audit/audit-record.ts";
import { authorize, authorizeCall, type Caller } from "../access/caller.ts";
import { ROOT } from "../types/scope.ts";
import { CairnError } from "#lang/errors.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { Follower } from "../journal/follower.ts";
import { PROBLEMS_MAX, type Engine, type EngineCopies, type StoreInfo } from "../ports/engine.ts";
import type { RunLedger, RunStore } from "../ports/run-store.ts";
import type { Runs } from "../runs/runs.ts";
import { BackupFiles, checkedName, type Backup } from "./backup-files.ts";

export interface SystemOptions {
  version: string;
  /** The engines in use, for display: store, blobs, search. */
  engines: Readonly<Record<string, string>>;
  /** undefined when everything is in memory. */
  backupDirectory: string | undefined;
}

export interface Info extends StoreInfo {
  version: string;
  startedUs: number;
  engines: Readonly<Record<string, string>>;
}

/** Data outside of the store: it is in backups too, and not destroyed meanwhile. */
export interface ContentBeside {
  kept<T>(work: () => Promise<T>): Promise<T>;
  /** Throws `precondition` (NOT_SUPPORTED) when there is content that cannot be copied; so do the next two. */
  requireCopies(): Promise<void>;
  copyTo(folder: string): Promise<void>;
  takeFrom(folder: string): Promise<void>;
  /** Reads all of it. One sentence for each problem. */
  verify(signal?: AbortSignal): Promise<string[]>;
}

const NO_COUNTS = { runs: 0, series: 0, points: 0, sizeBytes: 0 } as const;

/** Status, backups and checks of the server. */
export class System {
  readonly #engine: Engine;
  readonly #store: RunStore;
  readonly #runs: Runs;
  readonly #clock: Clock;
  readonly #options: SystemOptions;
  readonly #follower: Follower;
  readonly #content: ContentBeside;
  readonly #startedUs: number;

  constructor(parts: {
    engine: Engine;
    store: RunStore;
    runs: Runs;
    clock: Clock;
    options: SystemOptions;
    follower: Follower;
    content: ContentBeside;
  }) {
    this.#content = parts.content;
    this.#follower = parts.follower;
    this.#engine = parts.engine;
    this.#store = parts.store;
    this.#runs = parts.runs;
    this.#clock = parts.clock;
    this.#options = parts.options;
    this.#startedUs = parts.clock.nowUs();
  }

  /** Counts and size include hidden things: a caller that does not administer the server sees 0 instead. */
  async info(caller: Caller): Promise<Info> {
    authorizeCall(caller);
    const { version, engines } = this.#options;
    const info = { ...(await this.#engine.info()), version, engines, startedUs: this.#startedUs };
    return caller.rights.may("administer", ROOT) ? info : { ...info, ...NO_COUNTS };
  }

  async verifyRun(caller: Caller, ref: RunRef): Promise<RunLedger & { runId: string; verdict: string }> {
    const id = await this.#runs.locate(caller, ref);
    const ledger = await this.#store.verifyRun(id, undefined, caller.signal);
    return { ...ledger, runId: id, verdict: verdictOf(ledger) };
  }

  async createBackup(caller: Caller, asked: string): Promise<Backup> {
    authorize(caller);
    const nowUs = this.#clock.nowUs();
    const name = asked === "" ? `cairn-${stamp(nowUs)}` : checkedName(asked);
    const files = this.#files;
    await this.#content.kept(async () => {
      await this.#content.requireCopies();
      const partial = await files.begin(name);
      try {
        await this.#copies.backup(partial, auditRecord(caller, nowUs, "create-backup", name));
        // Everything that the copy needs exists, since nothing was destroyed meanwhile.
        await this.#content.copyTo(files.folderOf(name));
        await files.publish(partial);
      } catch (thrown) {
        await files.discard(partial);
        throw thrown;
      }
    });
    return files.describe(name);
  }

  async listBackups(caller: Caller): Promise<Backup[]> {
    authorize(caller);
    return this.#files.list();
  }

  /** The current state is saved first, so that a wrong choice can be undone. */
  async restoreBackup(caller: Caller, asked: string): Promise<{ restored: Backup; keptAside: Backup }> {
    authorize(caller);
    const files = this.#files;
    const restored = await files.describe(checkedName(asked));
    const nowUs = this.#clock.nowUs();
    const aside = `before-restore-${stamp(nowUs)}`;
    const audit = auditRecord(caller, nowUs, "restore-backup", restored.name, { kept_aside: aside });
    await this.#content.kept(async () => {
      const keepAside = await files.begin(aside);
      try {
        await this.#content.takeFrom(files.folderOf(restored.name));
        // So that nothing is replaced that cannot be saved.
        await this.#content.copyTo(files.folderOf(aside));
      } catch (thrown) {
        await files.discard(keepAside);
        throw thrown;
      }
      await this.#copies.restore(files.fileOf(restored.name), { keepAside, audit });
      await files.publish(keepAside);
      // Of changes meanwhile.
      await this.#content.copyTo(files.folderOf(aside));
    });
    await this.#follower.catchUp();
    return { restored, keptAside: await files.describe(aside) };
  }

  async checkIntegrity(caller: Caller): Promise<{ points: number; runs: number; problems: string[] }> {
    authorize(caller);
    const { integrity } = this.#engine;
    if (integrity === undefined) throw cannot("check the store", "the database has to check itself");
    const found = await integrity.checkIntegrity(caller.signal);
    const damaged = await this.#content.verify(caller.signal);
    const problems = [...found.problems, ...damaged].slice(0, PROBLEMS_MAX);
    return { ...found, problems };
  }

  get #copies(): EngineCopies {
    const { copies } = this.#engine;
    if (copies === undefined) throw cannot("copy the store", "use the backups of the database");
    return copies;
  }

  get #files(): BackupFiles {
    const { backupDirectory } = this.#options;
    if (backupDirectory === undefined) {
      throw new CairnError("precondition", "cannot keep backups: everything is in memory", {
        reason: "NO_DIRECTORY",
        hint: "start the server with --data DIR",
      });
    }
    return new BackupFiles(backupDirectory, this.#clock);
  }
}

function stamp(nowUs: number): string {
  return new Date(nowUs / 1000).toISOString().replaceAll(/[-:]/g, "").replace("T", "-").replace(".", "-");
}

function verdictOf({ totals: { envelopes, lastSeq, lost, gaps, problems } }: RunLedger): string {
  const parts = [
    `${envelopes} of ${lastSeq} envelopes`,
    ...(lost > 0 ? [`${lost} declared lost`] : []),
    countOf(gaps, "gap"),
    ...(problems > 0 ? [`${problems} damaged`] : []),
  ];
  return parts.join(", ");
}

function cannot(what: string, hint: string): CairnError {
  return new CairnError("precondition", `cannot ${what}: its engine does not support it`, {
    reason: "NOT_SUPPORTED",
    hint,
  });
}
