import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "#base/clock.ts";
import { countOf } from "#lang/words/numbers.ts";
import { auditRecord } from "../access/audit/audit-record.ts";
import { authorize, authorizeCall, type Caller } from "../access/caller.ts";
import { ROOT } from "../access/scope.ts";
import { CairnError, quote } from "#lang/errors.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { Follower } from "../journal/follower.ts";
import { PROBLEMS_MAX, type Engine, type EngineCopies, type StoreInfo } from "../ports/engine.ts";
import type { RunLedger, RunStore } from "../ports/run-store.ts";
import type { Runs } from "../runs/runs.ts";

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

export interface Backup {
  name: string;
  createdUs: number;
  sizeBytes: number;
}

/** Data outside of the store: it is in backups too, and not destroyed meanwhile. */
export interface ContentBeside {
  kept<T>(work: () => Promise<T>): Promise<T>;
  copyTo(folder: string): Promise<void>;
  takeFrom(folder: string): Promise<void>;
  /** Reads all of it. One sentence for each problem. */
  verify(signal?: AbortSignal): Promise<string[]>;
}

const NO_COUNTS = { runs: 0, series: 0, points: 0, sizeBytes: 0 } as const;
const SUFFIX = ".db";
const CONTENT_SUFFIX = ".blobs";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

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
  /** Names of backups that are being made. */
  readonly #writing = new Set<string>();

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
    await this.#content.kept(() =>
      this.#writeAs(name, async (partial) => {
        await this.#copies.backup(partial, auditRecord(caller, nowUs, "create-backup", name));
        await this.#copyContent(name);
      }),
    );
    return this.#describe(name);
  }

  async listBackups(caller: Caller): Promise<Backup[]> {
    authorize(caller);
    const directory = this.#directory();
    const files = await readdir(directory).catch(() => []);
    const backups = files
      .filter((file) => file.endsWith(SUFFIX))
      .map((file) => file.slice(0, -SUFFIX.length))
      .filter((name) => NAME.test(name))
      .map((name) => this.#describe(name));
    return (await Promise.all(backups)).sort((a, b) => a.createdUs - b.createdUs);
  }

  /** The current state is saved first, so that a wrong choice can be undone. */
  async restoreBackup(caller: Caller, asked: string): Promise<{ restored: Backup; keptAside: Backup }> {
    authorize(caller);
    const restored = await this.#describe(checkedName(asked));
    const nowUs = this.#clock.nowUs();
    const aside = `before-restore-${stamp(nowUs)}`;
    const audit = auditRecord(caller, nowUs, "restore-backup", restored.name, { kept_aside: aside });
    await this.#content.kept(() =>
      this.#writeAs(aside, async (keepAside) => {
        await this.#content.takeFrom(this.#folder(restored.name));
        // Once before, so that nothing is replaced that cannot be saved; once after, for changes meanwhile.
        await this.#copyContent(aside);
        await this.#copies.restore(this.#file(restored.name), { keepAside, audit });
        await this.#content.copyTo(this.#folder(aside));
      }),
    );
    await this.#follower.catchUp();
    return { restored, keptAside: await this.#describe(aside) };
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

  /** `write` fills a file of another name, which is renamed when it is complete. */
  async #writeAs(name: string, write: (partial: string) => Promise<void>): Promise<void> {
    const file = this.#file(name);
    if (this.#writing.has(name)) throw taken(name);
    this.#writing.add(name);
    try {
      await mkdir(this.#directory(), { recursive: true, mode: 0o700 });
      if ((await stat(file).catch(() => undefined)) !== undefined) throw taken(name);
      const partial = `${file}.partial`;
      await rm(partial, { force: true });
      await write(partial);
      await rename(partial, file);
      await this.#syncDirectory();
    } finally {
      this.#writing.delete(name);
    }
  }

  /** After the store is copied: everything that copy needs exists, since nothing was destroyed meanwhile. */
  async #copyContent(name: string): Promise<void> {
    const folder = this.#folder(name);
    // Of an interrupted backup.
    await rm(folder, { recursive: true, force: true });
    await this.#content.copyTo(folder);
  }

  async #syncDirectory(): Promise<void> {
    const directory = await open(this.#directory(), "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  async #describe(name: string): Promise<Backup> {
    const found = await stat(this.#file(name)).catch(() => undefined);
    if (found === undefined) {
      throw new CairnError("not-found", `cannot find backup ${quote(name)}`, {
        hint: "list the backups to see their names",
      });
    }
    return { name, createdUs: Math.round(found.mtimeMs * 1000), sizeBytes: found.size };
  }

  #file(name: string): string {
    return join(this.#directory(), name + SUFFIX);
  }

  #folder(name: string): string {
    return join(this.#directory(), name + CONTENT_SUFFIX);
  }

  #directory(): string {
    const { backupDirectory } = this.#options;
    if (backupDirectory === undefined) {
      throw new CairnError("precondition", "cannot keep backups: everything is in memory", {
        reason: "NO_DIRECTORY",
        hint: "start the server with --data DIR",
      });
    }
    return backupDirectory;
  }
}

function checkedName(name: string): string {
  if (NAME.test(name)) return name;
  throw new CairnError("invalid", `cannot use backup name ${quote(name)}`, {
    hint: 'a name has up to 100 letters, digits, ".", "_" and "-"',
  });
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

function taken(name: string): CairnError {
  return new CairnError("exists", `cannot create backup ${quote(name)}: it exists already`);
}
