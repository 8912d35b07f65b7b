import {
  metadataEntries,
  TrackerArtifact,
  TrackerBase,
  TrackerSource,
  type Lineage,
  type Metadata,
  type MetadataValue,
  type RunIdFilters,
} from "./api.ts";
import { readMetadata, writeMetadata } from "./metadata-json.ts";
import { walkLineage } from "./walk-lineage.ts";

interface MemoryRun {
  /** Values as JSON text: callers cannot change them later, and they come back as from any other tracker. */
  metadata: Map<string, string>;
  artifacts: Map<string, { path: string; metadata: ReadonlyMap<string, string> | null }>;
  sources: TrackerSource[];
}

/** A tracker that forgets everything with its process: for tests of jobs, and the shortest example of a tracker. */
export class MemoryTracker extends TrackerBase {
  readonly #runs = new Map<string, MemoryRun>();

  override async addArtifact(
    runId: string,
    name: string,
    path: string,
    metadata: Metadata | null = null,
  ): Promise<void> {
    this.#run(runId).artifacts.set(name, { path, metadata: metadata === null ? null : asTexts(metadata) });
  }

  override async artifacts(runId: string): Promise<ReadonlyMap<string, TrackerArtifact>> {
    const artifacts = this.#runs.get(runId)?.artifacts ?? new Map<string, never>();
    return new Map(
      [...artifacts].map(([name, { path, metadata }]) => [
        name,
        new TrackerArtifact(name, path, metadata === null ? null : asValues(metadata)),
      ]),
    );
  }

  override async addMetadata(runId: string, metadata: Metadata): Promise<void> {
    const run = this.#run(runId);
    for (const [key, json] of asTexts(metadata)) run.metadata.set(key, json);
  }

  override async metadata(runId: string): Promise<ReadonlyMap<string, MetadataValue>> {
    return asValues(this.#runs.get(runId)?.metadata ?? new Map());
  }

  override async addSource(
    runId: string,
    sourceId: string,
    artifactName: string | null = null,
  ): Promise<void> {
    const { sources } = this.#run(runId);
    if (sources.some((link) => link.sourceRunId === sourceId && link.artifactName === artifactName)) return;
    sources.push(new TrackerSource(sourceId, artifactName));
  }

  override async sources(
    runId: string,
    artifactName: string | null = null,
  ): Promise<readonly TrackerSource[]> {
    const sources = this.#runs.get(runId)?.sources ?? [];
    return sources.filter((link) => artifactName === null || link.artifactName === artifactName);
  }

  override lineage(runId: string): Promise<Lineage> {
    return walkLineage(this, runId);
  }

  /** Filters besides the parent compare with metadata, as text. */
  override async runIds({ parentRunId, ...filters }: RunIdFilters = {}): Promise<readonly string[]> {
    const wanted = Object.entries(filters).filter(([, value]) => value !== null && value !== undefined);
    return [...this.#runs]
      .filter(([, run]) => {
        if (parentRunId !== null && parentRunId !== undefined) {
          if (!run.sources.some(({ sourceRunId }) => sourceRunId === parentRunId)) return false;
        }
        const metadata = asValues(run.metadata);
        return wanted.every(([key, value]) => run.metadata.has(key) && textOf(metadata.get(key)) === value);
      })
      .map(([id]) => id);
  }

  #run(runId: string): MemoryRun {
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const run: MemoryRun = { metadata: new Map(), artifacts: new Map(), sources: [] };
    this.#runs.set(runId, run);
    return run;
  }
}

function asTexts(metadata: Metadata): Map<string, string> {
  return new Map(metadataEntries(metadata).map(([key, value]) => [key, writeMetadata(value).json]));
}

function asValues(texts: ReadonlyMap<string, string>): Map<string, MetadataValue> {
  return new Map([...texts].map(([key, json]) => [key, readMetadata(json)]));
}

function textOf(value: MetadataValue | undefined): string {
  return typeof value === "string" ? value : writeMetadata(value).json;
}
