import { userInfo } from "node:os";
import { readRank } from "../../capture/ranks.ts";
import {
  metadataEntries,
  TrackerBase,
  type Lineage,
  type Metadata,
  type MetadataValue,
  type RunIdFilters,
  type TrackerArtifact,
  type TrackerSource,
} from "../api.ts";
import { messageOf } from "../report-problem.ts";
import { walkLineage } from "../walk-lineage.ts";
import { ArtifactFiles } from "./artifact-files.ts";
import { ARTIFACT_PREFIX, artifactsFrom, metadataTag, pathTag, staleTags } from "./artifact-tags.ts";
import { defaultExperimentName, getOrCreateExperiment } from "./experiments.ts";
import { flattenParams, paramText } from "./flatten-params.ts";
import { hasReason } from "./mlflow-error.ts";
import { MLflowRest, type MLflowRestOptions } from "./mlflow-rest.ts";
import { paramsOf, tagsOf, type MLflowExperiment, type MLflowRun } from "./mlflow-types.ts";
import { NamedRuns } from "./named-runs.ts";
import { parentTag, sourcesOf, sourceTags } from "./source-tags.ts";

/** Where the original keeps runs by default. */
const DEFAULT_TRACKING_URI = "file:///tmp/torchx/mlruns";

/** Of one request, by MLflow's rules. */
const PAIRS_PER_BATCH = 100;
const KEY_CHARACTERS_MAX = 250;
/** MLflow cuts longer ones silently. */
const TAG_CHARACTERS_MAX = 8_000;
const PARAM_CHARACTERS_MAX = 6_000;
/** Tags that are not metadata: those of MLflow, and those in which links and artifacts are kept. */
const RESERVED = ["mlflow.", ARTIFACT_PREFIX, "torchx.source.", "torchx.parent.", "torchx.claim"];

type EndStatus = "FINISHED" | "FAILED" | "KILLED";

interface Opened {
  experiment: MLflowExperiment;
  runs: NamedRuns;
}

/**
 * Keeps runs in MLflow, through its REST API. A run id of TorchX is the name of a run in MLflow, so names must be unique
 * in the experiment; ranks that start at once agree on one run. Call `close()` at the end: it marks the run as finished.
 *
 * What MLflow cannot hold: metadata become texts (a text as it is, all else as JSON), and so do artifact metadata. A
 * path that is a file or folder of this machine is uploaded; any other is kept as it is. Unlike the original it keeps
 * links and knows the lineage (see source-tags.ts), reports artifacts where they are, and reads without creating.
 *
 * By default the experiment is `default-experiment/<user>/<host>` and the server that of MLFLOW_TRACKING_URI. Nothing is
 * sent before the first call.
 */
export class MLflowTracker extends TrackerBase {
  readonly trackingUri: string;
  readonly #rest: MLflowRest;
  readonly #files: ArtifactFiles;
  readonly #experimentName: string | null;
  readonly #artifactLocation: string | null;
  readonly #env: NonNullable<MLflowRestOptions["env"]>;
  #opened: Promise<Opened> | undefined;
  /** Runs this tracker writes to: name → what getRun answered, once. */
  readonly #active = new Map<string, Promise<MLflowRun>>();

  constructor(
    experimentName: string | null = null,
    trackingUri: string | null = null,
    artifactLocation: string | null = null,
    options: MLflowRestOptions = {},
  ) {
    super();
    this.#env = options.env ?? process.env;
    this.trackingUri = trackingUri ?? (this.#env["MLFLOW_TRACKING_URI"] || DEFAULT_TRACKING_URI);
    if (!/^https?:\/\//i.test(this.trackingUri)) {
      throw new Error(
        `cannot use tracking URI "${this.trackingUri}": it is not a server, and only MLflow's own Python code opens files and databases; run \`mlflow server --backend-store-uri ${this.trackingUri}\` and give its http:// address, also as MLFLOW_TRACKING_URI`,
      );
    }
    this.#rest = new MLflowRest(this.trackingUri, options);
    this.#files = new ArtifactFiles(this.#rest);
    this.#experimentName = experimentName;
    this.#artifactLocation = artifactLocation;
  }

  static defaultExperimentName(): Promise<string> {
    return defaultExperimentName();
  }

  /** Made when it is missing. */
  async experiment(): Promise<MLflowExperiment> {
    return (await this.#open()).experiment;
  }

  /** MLflow's run of that name as it is now; made, and started, when there is none. */
  async getRun(runName: string): Promise<MLflowRun> {
    const started = this.#active.get(runName) ?? this.#start(runName);
    this.#active.set(runName, started);
    try {
      return await this.#fresh((await started).info.run_id);
    } catch (thrown) {
      this.#active.delete(runName);
      throw thrown;
    }
  }

  /** MLflow's own id of the run. */
  async getRunId(runName: string): Promise<string> {
    return (await this.getRun(runName)).info.run_id;
  }

  /**
   * Ends the runs this tracker has written to. Of the ranks of a job only the first does: the others may end
   * earlier. Its writing afterwards starts the run again; that of the others does not, for they may begin later, too.
   */
  async close(status: EndStatus = "FINISHED"): Promise<void> {
    const runs = await Promise.all(this.#active.values());
    this.#active.clear();
    if (!this.#isFirstRank()) return;
    for (const { info } of runs) {
      await this.#rest.call("runs/update", { run_id: info.run_id, status, end_time: Date.now() });
    }
  }

  async addArtifact(runId: string, name: string, path: string, metadata?: Metadata | null): Promise<void> {
    const tags = new Map<string, string>();
    for (const [key, value] of metadataEntries(metadata ?? {}))
      tags.set(metadataTag(name, key), paramText(value));
    checkPairs("artifact metadata", tags, TAG_CHARACTERS_MAX);
    await doing(`add artifact "${name}" to run "${runId}"`, async () => {
      const run = await this.getRun(runId);
      tags.set(pathTag(name), (await this.#files.upload(run, name, path)) ?? path);
      await this.#logBatch(run, "tags", tags);
      for (const tag of staleTags(tagsOf(run), name, tags)) await this.#deleteTag(run, tag);
    });
  }

  async artifacts(runId: string): Promise<ReadonlyMap<string, TrackerArtifact>> {
    const run = await this.#find(runId);
    if (run === undefined) return new Map();
    return artifactsFrom(tagsOf(run), await this.#files.list(run), run.info.artifact_uri);
  }

  async addMetadata(runId: string, metadata: Metadata): Promise<void> {
    const given = metadataEntries(metadata).filter(([, value]) => value !== undefined);
    const tags = new Map(given.map(([key, value]) => [key, paramText(value)]));
    for (const key of tags.keys()) {
      const reserved = RESERVED.find((prefix) => key.startsWith(prefix));
      if (reserved !== undefined) {
        throw new Error(
          `cannot add metadata "${key}": keys that begin with "${reserved}" are not for metadata`,
        );
      }
    }
    checkPairs("metadata", tags, TAG_CHARACTERS_MAX);
    await doing(`add metadata to run "${runId}"`, async () => {
      await this.#logBatch(await this.getRun(runId), "tags", tags);
    });
  }

  /** Without the tags that MLflow and this tracker keep for themselves. */
  async metadata(runId: string): Promise<ReadonlyMap<string, MetadataValue>> {
    const run = await this.#find(runId);
    if (run === undefined) return new Map();
    return new Map([...tagsOf(run)].filter(([key]) => !RESERVED.some((prefix) => key.startsWith(prefix))));
  }

  async addSource(runId: string, sourceId: string, artifactName?: string | null): Promise<void> {
    const tags = sourceTags(sourceId, artifactName || null);
    checkPairs("source", tags, TAG_CHARACTERS_MAX);
    await doing(`add source "${sourceId}" to run "${runId}"`, async () => {
      await this.#logBatch(await this.getRun(runId), "tags", tags);
    });
  }

  async sources(runId: string, artifactName?: string | null): Promise<readonly TrackerSource[]> {
    const run = await this.#find(runId);
    const all = run === undefined ? [] : sourcesOf(tagsOf(run));
    return artifactName ? all.filter((source) => source.artifactName === artifactName) : all;
  }

  lineage(runId: string): Promise<Lineage> {
    return walkLineage(this, runId);
  }

  /** Filters besides the parent compare with tags and params. */
  async runIds({ parentRunId, ...others }: RunIdFilters = {}): Promise<readonly string[]> {
    const wanted = Object.entries(others).filter(([, value]) => value !== undefined && value !== null);
    const parent = parentRunId ? parentTag(parentRunId) : undefined;
    const { runs } = await this.#open();
    const names = new Set<string>();
    for await (const run of runs.search(parent === undefined ? "" : `tags.\`${parent}\` LIKE '%'`)) {
      const tags = tagsOf(run);
      if (parent !== undefined && tags.get(parent) !== parentRunId) continue;
      const params = wanted.length === 0 ? undefined : paramsOf(run);
      if (wanted.every(([key, value]) => tags.get(key) === value || params?.get(key) === value)) {
        names.add(run.info.run_name);
      }
    }
    return [...names];
  }

  /** Logs a nested configuration as params of MLflow; see `flattenParams`. MLflow keeps the first value of a param. */
  async logParamsFlat(runName: string, config: unknown, key = ""): Promise<void> {
    const params = flattenParams(config, key);
    checkPairs("param", params, PARAM_CHARACTERS_MAX);
    await doing(`log params of run "${runName}"`, async () => {
      await this.#logBatch(await this.getRun(runName), "params", params);
    });
  }

  #open(): Promise<Opened> {
    this.#opened ??= this.#openNow().catch((thrown: unknown) => {
      // The next call tries again.
      this.#opened = undefined;
      throw thrown;
    });
    return this.#opened;
  }

  async #openNow(): Promise<Opened> {
    const name = this.#experimentName ?? (await defaultExperimentName(this.#env));
    const experiment = await getOrCreateExperiment(this.#rest, name, this.#artifactLocation);
    const user = this.#env["LOGNAME"] || this.#env["USER"] || userInfo().username;
    return { experiment, runs: new NamedRuns(this.#rest, { id: experiment.experiment_id, name }, user) };
  }

  async #start(runName: string): Promise<MLflowRun> {
    if (runName === "") throw new Error('cannot use run "": MLflow would make up a name');
    const run = await (await this.#open()).runs.getOrCreate(runName);
    if (run.info.status !== "RUNNING" && this.#isFirstRank()) {
      await this.#rest.call("runs/update", { run_id: run.info.run_id, status: "RUNNING" });
    }
    return run;
  }

  #isFirstRank(): boolean {
    return (readRank(this.#env).rank ?? 0) === 0;
  }

  /** For reading: never makes one. */
  async #find(runName: string): Promise<MLflowRun | undefined> {
    const active = this.#active.get(runName);
    if (active !== undefined) return this.#fresh((await active).info.run_id);
    return (await this.#open()).runs.find(runName);
  }

  async #fresh(runId: string): Promise<MLflowRun> {
    return (await this.#rest.call<{ run: MLflowRun }>("runs/get", { run_id: runId }, { method: "GET" })).run;
  }

  async #logBatch(
    run: MLflowRun,
    field: "tags" | "params",
    pairs: ReadonlyMap<string, string>,
  ): Promise<void> {
    const all = Array.from(pairs, ([key, value]) => ({ key, value }));
    for (let at = 0; at < all.length; at += PAIRS_PER_BATCH) {
      const batch = all.slice(at, at + PAIRS_PER_BATCH);
      await this.#rest.call("runs/log-batch", { run_id: run.info.run_id, [field]: batch });
    }
  }

  async #deleteTag(run: MLflowRun, key: string): Promise<void> {
    try {
      await this.#rest.call("runs/delete-tag", { run_id: run.info.run_id, key });
    } catch (thrown) {
      if (!hasReason(thrown, "RESOURCE_DOES_NOT_EXIST")) throw thrown;
    }
  }
}

/** Puts the failed operation in front of the error. */
async function doing<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw new Error(`cannot ${what}: ${messageOf(thrown)}`, { cause: thrown });
  }
}

function checkPairs(what: string, pairs: ReadonlyMap<string, string>, charactersMax: number): void {
  for (const [key, value] of pairs) {
    const name = key.length > 60 ? `${key.slice(0, 60)}…` : key;
    if (key === "") throw new Error(`cannot add ${what} "": it has no key`);
    if (key.length > KEY_CHARACTERS_MAX) {
      throw new Error(
        `cannot add ${what} "${name}": its key has ${key.length} characters, and MLflow takes ${KEY_CHARACTERS_MAX}`,
      );
    }
    if (value.length > charactersMax) {
      throw new Error(
        `cannot add ${what} "${name}": it has ${value.length} characters, and MLflow would cut it at ${charactersMax}; keep it as an artifact`,
      );
    }
  }
}
