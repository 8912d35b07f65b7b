import { RunStatus, type Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import type { FsspecDirectory, FsspecRun } from "#sdk/tracker/fsspec/fsspec-directory.ts";
import { explain } from "../explain.ts";
import { inParallel } from "#base/in-parallel.ts";
import { importArtifacts } from "./import-artifacts.ts";
import { isFatal } from "./is-fatal.ts";
import { isSame, paramTexts, record } from "./param-texts.ts";

const AT_ONCE = 8;
/** Marks runs that a later import may end; other runs may still be running. */
const IMPORT_TAG = { imported: "fsspec" };

export interface Skipped {
  /** A file or directory, or a run and what belongs to it. */
  what: string;
  reason: string;
}

export interface ImportReport {
  runs: number;
  created: number;
  changed: number;
  failed: number;
  params: number;
  artifacts: number;
  links: number;
  skipped: Skipped[];
}

export interface ImportOptions {
  namespace: string;
  /** Counts what would be imported, without calls to the server. */
  server: Cairn | undefined;
  interrupted: AbortSignal;
  onProgress(done: number, total: number, runId: string): void;
}

/**
 * Imports the runs of a directory: ids become aliases, metadata params, artifacts references, sources links. Existing
 * entries are compared and only changed when they differ, so doing it again changes nothing. What the server refuses is
 * reported and the rest continues; it only ends when the server does not answer or denies access.
 */
export async function importFsspec(
  directory: FsspecDirectory,
  options: ImportOptions,
): Promise<ImportReport> {
  const work = new FsspecImport(directory, options);
  return work.run();
}

interface Imported {
  id: string;
  links: FsspecRun["sources"];
  state: "created" | "changed" | "same";
}

class FsspecImport {
  readonly #directory: FsspecDirectory;
  readonly #options: ImportOptions;
  readonly #report: ImportReport = {
    runs: 0,
    created: 0,
    changed: 0,
    failed: 0,
    params: 0,
    artifacts: 0,
    links: 0,
    skipped: [],
  };
  /** By their id in TorchX. */
  readonly #imported = new Map<string, Imported>();

  constructor(directory: FsspecDirectory, options: ImportOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  async run(): Promise<ImportReport> {
    const ids = await this.#directory.runIds();
    const { interrupted, onProgress } = this.#options;
    this.#report.runs = ids.length;
    // Every run twice: links need both ends.
    const total = 2 * ids.length;
    let done = 0;
    await inParallel(ids, AT_ONCE, async (id) => {
      if (interrupted.aborted) return;
      await this.#importRun(id);
      onProgress(++done, total, id);
    });
    await inParallel([...this.#imported], AT_ONCE, async ([id, imported]) => {
      if (interrupted.aborted) return;
      await this.#importLinks(id, imported);
      onProgress(++done, total, id);
    });
    for (const { state } of this.#imported.values()) if (state !== "same") this.#report[state]++;
    return this.#report;
  }

  async #importRun(runId: string): Promise<void> {
    const read = await this.#directory.run(runId);
    const { server } = this.#options;
    if (server === undefined) {
      this.#report.params += read.metadata.size;
      this.#report.artifacts += read.artifacts.size;
      this.#report.links += read.sources.length;
      return;
    }
    const params = paramTexts(read.metadata);
    const made = await this.#attempt(`run ${runId}`, () => this.#ensureRun(server, runId, read, params));
    if (made === undefined) {
      this.#report.failed++;
      return;
    }
    const { run, created } = made;
    const setParams = await this.#setParams(server, runId, run, params);
    const { recorded, skipped } = await importArtifacts(server, run.id, read.artifacts.values(), !created);
    for (const { name, reason } of skipped) this.#skip(`artifact ${name} of run ${runId}`, reason);
    const ended = await this.#end(server, runId, run, read);
    this.#report.params += setParams + (created ? Object.keys(run.params).length : 0);
    this.#report.artifacts += recorded;
    const state = created ? "created" : setParams + recorded > 0 || ended ? "changed" : "same";
    this.#imported.set(runId, { id: run.id, links: read.sources, state });
  }

  /** With its params where the server takes all of them at once. */
  async #ensureRun(
    server: Cairn,
    runId: string,
    read: FsspecRun,
    params: ReadonlyMap<string, string>,
  ): Promise<{ run: Run; created: boolean }> {
    const request = {
      namespace: this.#options.namespace,
      name: lastPart(runId),
      aliases: [runId],
      tags: IMPORT_TAG,
      startedUs: read.firstUs ?? 0n,
      getOrCreate: true,
    };
    try {
      const { run, created } = await server.runs.createRun({ ...request, params: record(params) });
      return { run: run!, created };
    } catch (thrown) {
      if (params.size === 0 || (await isFatal(thrown))) throw thrown;
      // One of the params may be refused; which one is found out one by one.
      const { run, created } = await server.runs.createRun(request);
      return { run: run!, created };
    }
  }

  /** Sets params that differ. Returns how many were set. */
  async #setParams(
    server: Cairn,
    runId: string,
    run: Run,
    params: ReadonlyMap<string, string>,
  ): Promise<number> {
    const missing = new Map([...params].filter(([key, text]) => !isSame(run.params, key, text)));
    if (missing.size === 0) return 0;
    try {
      await server.runs.updateRun({ run: { id: run.id }, params: record(missing) });
      return missing.size;
    } catch (thrown) {
      if (await isFatal(thrown)) throw thrown;
    }
    let count = 0;
    for (const [key, text] of missing) {
      const set = await this.#attempt(`param ${key} of run ${runId}`, () =>
        server.runs.updateRun({ run: { id: run.id }, params: record(new Map([[key, text]])) }),
      );
      if (set !== undefined) count++;
    }
    return count;
  }

  /** TorchX does not record the end of a run. An imported run ended with its last entry. */
  async #end(server: Cairn, runId: string, run: Run, read: FsspecRun): Promise<boolean> {
    if (run.tags["imported"] !== IMPORT_TAG.imported) return false;
    const isOver = run.status !== RunStatus.RUNNING;
    if (isOver && (read.lastUs === undefined || run.endedUs >= read.lastUs)) return false;
    const ended = await this.#attempt(`the end of run ${runId}`, () =>
      server.runs.updateRun({
        run: { id: run.id },
        status: isOver ? run.status : RunStatus.FINISHED,
        endedUs: read.lastUs ?? 0n,
      }),
    );
    return ended !== undefined;
  }

  async #importLinks(runId: string, imported: Imported): Promise<void> {
    const { id, links } = imported;
    const { server } = this.#options;
    if (server === undefined) return;
    let added = 0;
    for (const { sourceRunId, artifactName } of links) {
      const artifact = artifactName ?? "";
      // This means a run of this directory, also when a run elsewhere has the same id.
      const known = this.#imported.get(sourceRunId);
      const source =
        known === undefined ? { id: sourceRunId, artifact } : { run: { id: known.id }, artifact };
      const answer = await this.#attempt(`source ${sourceRunId} of run ${runId}`, () =>
        server.lineage.addSource({ run: { id }, source }),
      );
      if (answer?.created === true) added++;
    }
    this.#report.links += added;
    if (added > 0 && imported.state === "same") imported.state = "changed";
  }

  /** undefined, and reported, when the server refuses. */
  async #attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (thrown) {
      if (await isFatal(thrown)) throw thrown;
      this.#skip(what, (await explain(thrown, ""))?.message ?? String(thrown));
      return undefined;
    }
  }

  #skip(what: string, reason: string): void {
    this.#report.skipped.push({ what, reason });
  }
}

/** `sh-f6bb` of `local_cwd://torchx/sh-f6bb`. */
function lastPart(runId: string): string {
  const last = runId.slice(runId.lastIndexOf("/") + 1);
  return (last === "" ? runId : last).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ");
}
