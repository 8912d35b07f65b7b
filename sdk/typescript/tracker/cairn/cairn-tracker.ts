import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { Source } from "#proto/cairn/v1/lineage_pb.ts";
import { Cairn } from "../../client.ts";
import { eachPage } from "../../pages.ts";
import {
  ENV_TORCHX_JOB_ID,
  Lineage,
  TrackerArtifact,
  TrackerBase,
  TrackerSource,
  type Metadata,
  type MetadataValue,
  type ReportProblem,
  type RunIdFilters,
} from "../api.ts";
import { latestArtifacts, trackerArtifact } from "./cairn-artifacts.ts";
import { readCairnConfig, type ConfigContext } from "./cairn-config.ts";
import { lineageFrom } from "./cairn-lineage.ts";
import { CairnRuns, isNotFound, type TrackedJob, type TrackerPlace } from "./cairn-runs.ts";
import { filterQuery } from "./filter-query.ts";
import { beginJobRun } from "./job-run.ts";
import { paramTexts, paramValues } from "../param-texts.ts";
import { Patience } from "../patience.ts";
import { messageOf, reportToConsole } from "../report-problem.ts";
import { artifactFields, toAlias } from "../torchx-names.ts";
import { provenanceOfRole } from "../../run/statements/stated-provenance.ts";
import { walkLineage } from "../walk-lineage.ts";

const PAGE = 10_000;
const LINEAGE_DEPTH = 100;
/** Of a tag; see docs/limits.md. */
const KEY_BYTES_MAX = 512;
/** Marks a param that is only the text of what was given; the Python client does the same. */
const TEXT_TAG = "as-text.";

export interface CairnTrackerOptions extends Partial<TrackerPlace> {
  /** How long one call may take in all; 5 s unless said. */
  timeoutMs?: number | undefined;
  report?: ReportProblem | undefined;
  /** Begins to capture what the job is and prints. */
  beginJob?: (() => Promise<void>) | undefined;
}

/**
 * Tracks to a Cairn server. A run of TorchX is the run that has its id as an alias; metadata are its params, artifacts
 * its references, sources its lineage. Runs are read in the configured namespace and below.
 */
export class CairnTracker extends TrackerBase {
  readonly #server: Cairn;
  readonly #patience: Patience;
  readonly #runs: CairnRuns;
  readonly #report: ReportProblem;
  readonly #beginJob: () => Promise<void>;
  #reportedSource = false;

  constructor(server: Cairn, options: CairnTrackerOptions = {}) {
    super();
    this.#server = server;
    this.#patience = new Patience(server.url, options.timeoutMs);
    this.#runs = new CairnRuns(server, this.#patience, { namespace: "", ...options });
    this.#report = options.report ?? reportToConsole;
    this.#beginJob = options.beginJob ?? (() => Promise.resolve());
  }

  /** @internal For the job itself, once. Never rejects. */
  async beginJob(): Promise<void> {
    try {
      await this.#beginJob();
    } catch (thrown) {
      this.#report(`cannot record what the job runs: ${messageOf(thrown)}; the job continues`);
    }
  }

  override async addMetadata(runId: string, metadata: Metadata): Promise<void> {
    const { texts: params, textOf } = paramTexts(metadata);
    const tags: Record<string, string> = {};
    const removeTags: string[] = [];
    for (const key of Object.keys(params)) {
      const tag = TEXT_TAG + key;
      if (Buffer.byteLength(tag) > KEY_BYTES_MAX) continue;
      const kind = textOf.get(key);
      if (kind === undefined) removeTags.push(tag);
      else tags[tag] = kind;
    }
    await this.#runs.write(runId, (id) =>
      this.#patience.call((options) =>
        this.#server.runs.updateRun({ run: { id }, params, tags, removeTags }, options),
      ),
    );
  }

  override async metadata(runId: string): Promise<ReadonlyMap<string, MetadataValue>> {
    return paramValues((await this.#runs.find(runId))?.params ?? {});
  }

  /** The path is kept as a reference; nothing is uploaded. */
  override async addArtifact(
    runId: string,
    name: string,
    path: string,
    metadata: Metadata | null = null,
  ): Promise<void> {
    const artifact = artifactFields(name, path, metadata);
    await this.#runs.write(runId, (id) =>
      this.#patience.call((options) =>
        this.#server.artifacts.recordArtifact({ run: { id }, artifact }, options),
      ),
    );
  }

  /** Of one that was recorded at several steps the last. The path of one that is stored here is its URL. */
  override async artifacts(runId: string): Promise<ReadonlyMap<string, TrackerArtifact>> {
    const run = await this.#runs.find(runId);
    if (run === undefined) return new Map();
    const request = { run: { id: run.id }, pageSize: PAGE };
    const pages = eachPage((pageToken) =>
      this.#patience.call((options) =>
        this.#server.artifacts.listArtifacts({ ...request, pageToken }, options),
      ),
    );
    const all: Artifact[] = [];
    for await (const { artifacts } of pages) all.push(...artifacts);
    return new Map(
      latestArtifacts(all).map((artifact) => {
        const mapped = trackerArtifact(artifact, this.#server.url);
        return [mapped.name, mapped];
      }),
    );
  }

  /**
   * Never rejects, since every process of a job calls it while it starts: a failure is reported, once. An artifact with the
   * name of a role, such as "training_data", states in the provenance of the run, too, what the source was used as.
   */
  override async addSource(
    runId: string,
    sourceId: string,
    artifactName: string | null = null,
  ): Promise<void> {
    try {
      const known = await this.#runs.findUnambiguous(sourceId);
      const artifact = artifactName ?? "";
      const source =
        known === undefined ? { id: toAlias(sourceId), artifact } : { run: { id: known.id }, artifact };
      await this.#runs.write(runId, (id) =>
        this.#patience.call((options) => this.#server.lineage.addSource({ run: { id }, source }, options)),
      );
      const addProvenance = provenanceOfRole(artifact, sourceId);
      if (addProvenance === undefined) return;
      await this.#runs.write(runId, (id) =>
        this.#patience.call((options) =>
          this.#server.runs.updateRun({ run: { id }, addProvenance }, options),
        ),
      );
    } catch (thrown) {
      if (this.#reportedSource) return;
      this.#reportedSource = true;
      this.#report(
        `cannot add source "${sourceId}" to run "${runId}": ${messageOf(thrown)}; further failures are not reported`,
      );
    }
  }

  /** In the order they were added, without those the caller may not see. */
  override async sources(
    runId: string,
    artifactName: string | null = null,
  ): Promise<readonly TrackerSource[]> {
    const run = await this.#runs.find(runId);
    if (run === undefined) return [];
    const filter = artifactName === null ? {} : { artifact: artifactName };
    const request = { run: { id: run.id }, ...filter, pageSize: PAGE };
    const pages = eachPage((pageToken) =>
      this.#patience.call((options) => this.#server.lineage.listSources({ ...request, pageToken }, options)),
    );
    const links: Source[] = [];
    for await (const page of pages) links.push(...page.sources.filter(({ hidden }) => !hidden));
    const ids = await this.#runs.idsOf(links.map((link) => link.runId).filter((id) => id !== ""));
    // What was linked before it was a run is linked by its text, and perhaps once more as the run.
    const sources = new Map<string, TrackerSource>();
    for (const link of links) {
      const id = link.externalId || (ids.get(link.runId) ?? link.runId);
      sources.set(JSON.stringify([id, link.artifact]), new TrackerSource(id, link.artifact || null));
    }
    return [...sources.values()];
  }

  override async lineage(runId: string): Promise<Lineage> {
    const run = await this.#runs.find(runId);
    // An external source has no lineage, but runs may be made from it.
    if (run === undefined) return await walkLineage(this, runId);
    const request = { run: { id: run.id }, depth: LINEAGE_DEPTH };
    const graph = await this.#patience.call((options) => this.#server.lineage.getLineage(request, options));
    const ids = await this.#runs.idsOf(graph.nodes.map((node) => node.runId).filter((id) => id !== ""));
    const artifacts = await this.artifacts(runId);
    return lineageFrom(graph, { ids: ids.set(run.id, runId), artifacts, url: this.#server.url });
  }

  /** Filters besides the parent compare with a tag or a param of that key. Oldest first; children as they were linked. */
  override async runIds({ parentRunId, ...filters }: RunIdFilters = {}): Promise<readonly string[]> {
    const query = filterQuery(filters);
    if (parentRunId === null || parentRunId === undefined) return await this.#runs.list(query);
    const parent = await this.#runs.findUnambiguous(parentRunId);
    const children = new Set(await this.#children({ externalId: toAlias(parentRunId) }));
    for (const id of parent === undefined ? [] : await this.#children({ run: { id: parent.id } }))
      children.add(id);
    const ids = await this.#runs.idsOf(children, { query, anywhere: false });
    return [...children].flatMap((id) => ids.get(id) ?? []);
  }

  async #children(of: { externalId: string } | { run: { id: string } }): Promise<string[]> {
    const request = { ...of, pageSize: PAGE };
    const pages = eachPage((pageToken) =>
      this.#patience.call((options) => this.#server.lineage.listChildren({ ...request, pageToken }, options)),
    );
    const found: string[] = [];
    try {
      for await (const { children } of pages) {
        for (const { hidden, runId } of children) if (!hidden) found.push(runId);
      }
    } catch (thrown) {
      if (!isNotFound(thrown)) throw thrown;
    }
    return found;
  }
}

/** What TorchX calls with the text of its settings; see `readCairnConfig`. */
export async function createCairnTracker(
  config: string | null,
  context: ConfigContext = {},
): Promise<CairnTracker> {
  const found = await readCairnConfig(config, context);
  const { server, timeoutMs } = found;
  const namespace = found.namespace || "default";
  const job = jobOf(context.env ?? process.env);
  return new CairnTracker(new Cairn(server), {
    namespace,
    timeoutMs,
    job,
    report: context.report,
    ...(job !== undefined && { beginJob: () => beginJobRun({ ...found, namespace }, job) }),
  });
}

/** `dist.ddp` of TorchX passes a job its experiment and run; the launcher does not know them. */
function jobOf(env: Readonly<Record<string, string | undefined>>): TrackedJob | undefined {
  const id = env[ENV_TORCHX_JOB_ID];
  if (id === undefined) return undefined;
  const parts = (env["TORCHX_TRACKING_EXPERIMENT_NAME"] ?? "").split("/").map((part) => part.trim());
  const experimentName = parts.filter((part) => part !== "" && part !== "." && part !== "..").join("/");
  return { id, experimentName, runName: env["TORCHX_TRACKING_RUN_NAME"] ?? "" };
}
