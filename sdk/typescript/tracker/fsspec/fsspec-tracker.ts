import {
  metadataEntries,
  TrackerArtifact,
  TrackerBase,
  TrackerSource,
  type Lineage,
  type Metadata,
  type MetadataValue,
  type RunIdFilters,
} from "../api.ts";
import { walkLineage } from "../walk-lineage.ts";
import { inParallel } from "#base/in-parallel.ts";
import { jsonValue } from "#lang/json/write.ts";
import { writeMetadata } from "../metadata-json.ts";
import {
  FsspecDirectory,
  stripped,
  type FsspecMetadata,
  type FsspecProblem,
  type ReportFsspecProblem,
} from "./fsspec-directory.ts";
import { nameForWriting } from "./run-names.ts";
import { TimestampNames } from "./timestamp-names.ts";
import type { TrackerFileSystem } from "./tracker-file-system.ts";

const PROBLEMS_MAX = 1000;
const READS_AT_ONCE = 16;
/** Names that others took in the same nanosecond. */
const ATTEMPTS_MAX = 1000;

/** One for all trackers of the process, so that their entries are in order. */
const names = new TimestampNames();
/** Link files that are being written, so that one process never adds a line twice. */
const appending = new Map<string, Promise<void>>();

export interface FsspecTrackerOptions {
  /** Called once for each file or directory that is skipped. */
  onProblem?: ReportFsspecProblem;
}

/**
 * Keeps runs as files in the layout of TorchX's FsspecTracker: what either writes the other reads. Several processes
 * may write at once. `rootDir` must exist.
 *
 * Unlike the original it reads entries in the order they were written, skips what cannot be read (see
 * `problems`), keeps a link without an artifact beside one with, and knows the lineage.
 */
export class FsspecTracker extends TrackerBase {
  readonly #directory: FsspecDirectory;
  readonly #problems = new Map<string, FsspecProblem>();

  constructor(fs: TrackerFileSystem, rootDir: string, { onProblem }: FsspecTrackerOptions = {}) {
    super();
    this.#directory = new FsspecDirectory(fs, rootDir, (problem) => {
      if (this.#problems.has(problem.path) || this.#problems.size >= PROBLEMS_MAX) return;
      this.#problems.set(problem.path, problem);
      onProblem?.(problem);
    });
  }

  /** What was skipped so far, at most a thousand. */
  get problems(): readonly FsspecProblem[] {
    return [...this.#problems.values()];
  }

  async addArtifact(runId: string, name: string, path: string, metadata?: Metadata | null): Promise<void> {
    const fields = [`"name": ${JSON.stringify(name)}`, `"path": ${JSON.stringify(path)}`];
    const given = metadata === undefined || metadata === null ? "null" : objectText(metadata);
    await this.#persist(runId, "artifacts", `{${fields.join(", ")}, "metadata": ${given}}`);
  }

  async artifacts(runId: string): Promise<ReadonlyMap<string, TrackerArtifact>> {
    await this.#directory.check();
    const found = await this.#directory.artifacts(runId);
    return new Map(
      Array.from(found, ([name, { path, metadata }]) => [
        name,
        new TrackerArtifact(name, path, metadata === null ? null : valuesOf(metadata)),
      ]),
    );
  }

  async addMetadata(runId: string, metadata: Metadata): Promise<void> {
    await this.#persist(runId, "metadata", `{"metadata": ${objectText(metadata)}}`);
  }

  async metadata(runId: string): Promise<ReadonlyMap<string, MetadataValue>> {
    await this.#directory.check();
    return valuesOf(await this.#directory.metadata(runId));
  }

  async addSource(runId: string, sourceId: string, artifactName?: string | null): Promise<void> {
    const run = nameForWriting("run id", runId);
    const source = nameForWriting("source id", sourceId);
    const line = stripped(artifactName ?? "");
    if (line.includes("\n")) {
      throw new Error(
        `cannot add source "${sourceId}": the artifact name ${JSON.stringify(line)} has a line break`,
      );
    }
    await this.#directory.check();
    await this.#addLine(this.#directory.folder(run, "sources"), source, line);
    // As the original: a run that was never tracked here gets no directory.
    if (await this.#directory.fs.exists(this.#directory.folder(source))) {
      await this.#addLine(this.#directory.folder(source, "descendants"), run, line);
    }
  }

  async sources(runId: string, artifactName?: string | null): Promise<readonly TrackerSource[]> {
    await this.#directory.check();
    const all = await this.#directory.sources(runId);
    return artifactName ? all.filter((source) => source.artifactName === artifactName) : all;
  }

  async lineage(runId: string): Promise<Lineage> {
    // One look at all links: a directory does not know the children of a run.
    const sources = new Map<string, readonly TrackerSource[]>();
    const children = new Map<string, string[]>();
    const ids = await this.#directory.runIds();
    await inParallel(ids, READS_AT_ONCE, async (id) => void sources.set(id, await this.sources(id)));
    for (const [id, links] of sources) {
      for (const parent of new Set(links.map(({ sourceRunId }) => sourceRunId))) {
        const known = children.get(parent);
        if (known === undefined) children.set(parent, [id]);
        else known.push(id);
      }
    }
    return walkLineage(
      {
        sources: async (id) => sources.get(id) ?? [],
        runIds: async ({ parentRunId } = {}) => children.get(parentRunId ?? "") ?? [],
        artifacts: (id) => this.artifacts(id),
      },
      runId,
    );
  }

  /** Supports only `parentRunId`; any other filter is refused. */
  async runIds({ parentRunId, ...others }: RunIdFilters = {}): Promise<readonly string[]> {
    const unknown = Object.entries(others).find(([, value]) => value !== undefined && value !== null);
    if (unknown !== undefined) {
      throw new Error(
        `cannot filter runs by "${unknown[0]}": a directory of TorchX supports only parentRunId`,
      );
    }
    return this.#directory.runIds(parentRunId);
  }

  async #persist(runId: string, category: "metadata" | "artifacts", json: string): Promise<void> {
    const run = nameForWriting("run id", runId);
    await this.#directory.check();
    const folder = this.#directory.folder(run, category);
    await this.#directory.fs.makeDirs(folder);
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      if (await this.#directory.fs.create(`${folder}/${names.next()}`, json)) return;
    }
    throw new Error(`cannot write to "${folder}": ${ATTEMPTS_MAX} names were taken`);
  }

  async #addLine(folder: string, name: string, line: string): Promise<void> {
    const path = `${folder}/${name}`;
    const before = appending.get(path) ?? Promise.resolve();
    const mine = before.catch(() => {}).then(() => this.#addLineNow(folder, path, line));
    appending.set(path, mine);
    try {
      await mine;
    } finally {
      if (appending.get(path) === mine) appending.delete(path);
    }
  }

  async #addLineNow(folder: string, path: string, line: string): Promise<void> {
    const { fs } = this.#directory;
    await fs.makeDirs(folder);
    if (await fs.create(path, `${line}\n`)) return;
    const text = new TextDecoder().decode(await fs.read(path, LINKS_BYTES_MAX));
    const lines = text.split("\n");
    const isTorn = lines.pop() !== "";
    if (lines.some((written) => stripped(written) === line)) return;
    await fs.append(path, `${isTorn ? "\n" : ""}${line}\n`);
  }
}

/** Names of artifacts through which one run comes from one other. */
const LINKS_BYTES_MAX = 16 * 1024 * 1024;

function valuesOf(metadata: FsspecMetadata): Map<string, MetadataValue> {
  return new Map(Array.from(metadata, ([key, node]) => [key, jsonValue(node)]));
}

/** A value that is not JSON is written as its text: half a file would stop TorchX from reading the run. */
function objectText(metadata: Metadata): string {
  const members = metadataEntries(metadata)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${JSON.stringify(key)}: ${writeMetadata(value).json}`);
  return `{${members.join(", ")}}`;
}
