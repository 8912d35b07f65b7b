import {
  AppRunTrackableSource,
  ENV_TORCHX_JOB_ID,
  ENV_TORCHX_PARENT_RUN_ID,
  Lineage,
  type Metadata,
  type ReportProblem,
  type TrackerBase,
} from "./api.ts";
import { messageOf, reportToConsole } from "./report-problem.ts";
import { trackersFromEnviron, type TrackerEnvironment } from "./trackers-from-environ.ts";

/** The id of a run that TorchX did not launch. */
const UNDEFINED_JOB_ID = "<UNDEFINED>";

let fromEnv: Promise<AppRun> | undefined;

/**
 * A job, as the job itself sees it. Writes go to every backend; reads come from the first.
 *
 * A write never rejects: a write that fails in a backend is reported once per backend and counted in `failedWrites`,
 * and the others still get it. TorchX lets the first failure of any backend end the job; a caller that wants that
 * checks `failedWrites`. Reads do reject, since there is no answer to return.
 */
export class AppRun {
  readonly id: string;
  readonly backends: readonly TrackerBase[];
  readonly #report: ReportProblem;
  readonly #reported = new Set<TrackerBase>();
  #failedWrites = 0;

  constructor(id: string, backends: Iterable<TrackerBase>, report: ReportProblem = reportToConsole) {
    this.id = id;
    this.backends = [...backends];
    this.#report = report;
  }

  /**
   * The job this process belongs to, with the trackers that TORCHX_TRACKERS names, and linked to the run that
   * TORCHX_PARENT_RUN_ID names. There is one per process. A tracker may record what the process is and prints. Outside a job its id is `<UNDEFINED>`, it has no trackers,
   * and writing to it does nothing.
   */
  static runFromEnv(): Promise<AppRun> {
    fromEnv ??= makeFromEnv({ isThisProcess: true });
    return fromEnv;
  }

  /** Makes the next `runFromEnv()` look at the environment again. For tests. */
  static clearRunFromEnv(): void {
    fromEnv = undefined;
  }

  jobId(): string {
    return this.id;
  }

  /** Writes, over all backends, that did not reach their tracker. */
  get failedWrites(): number {
    return this.#failedWrites;
  }

  async addMetadata(metadata: Metadata): Promise<void> {
    await this.#write("add metadata", (backend) => backend.addMetadata(this.id, metadata));
  }

  async addArtifact(name: string, path: string, metadata: Metadata | null = null): Promise<void> {
    await this.#write(`add artifact "${name}"`, (backend) =>
      backend.addArtifact(this.id, name, path, metadata),
    );
  }

  async addSource(sourceId: string, artifactName: string | null = null): Promise<void> {
    await this.#write(`add source "${sourceId}"`, (backend) =>
      backend.addSource(this.id, sourceId, artifactName),
    );
  }

  async sources(): Promise<AppRunTrackableSource[]> {
    const sources = (await this.backends[0]?.sources(this.id)) ?? [];
    return sources.map(
      ({ sourceRunId, artifactName }) => new AppRunTrackableSource(this.#other(sourceRunId), artifactName),
    );
  }

  /** The runs that were made directly from this one. */
  async children(): Promise<AppRun[]> {
    const ids = (await this.backends[0]?.runIds({ parentRunId: this.id })) ?? [];
    return ids.map((id) => this.#other(id));
  }

  async lineage(): Promise<Lineage> {
    return (await this.backends[0]?.lineage(this.id)) ?? new Lineage();
  }

  #other(id: string): AppRun {
    return new AppRun(id, this.backends, this.#report);
  }

  async #write(what: string, write: (backend: TrackerBase) => Promise<void>): Promise<void> {
    await Promise.all(
      this.backends.map(async (backend) => {
        try {
          await write(backend);
        } catch (thrown) {
          this.#failedWrites++;
          if (this.#reported.has(backend)) return;
          this.#reported.add(backend);
          this.#report(
            `cannot ${what} of run "${this.id}" in ${backend.constructor.name}: ${messageOf(thrown)}; ` +
              "the job continues, and further failures of this tracker are only counted",
          );
        }
      }),
    );
  }
}

/** The same as `AppRun.runFromEnv()`. */
export function appRunFromEnv(): Promise<AppRun> {
  return AppRun.runFromEnv();
}

/** A tracker that records by itself what a job runs. */
interface JobTracker extends TrackerBase {
  beginJob(): Promise<void>;
}

/** A job from an environment of one's own; a new one every time. */
export async function makeFromEnv(
  environment: TrackerEnvironment & { isThisProcess?: boolean },
): Promise<AppRun> {
  const env = environment.env ?? process.env;
  const jobId = env[ENV_TORCHX_JOB_ID] ?? UNDEFINED_JOB_ID;
  const run = new AppRun(jobId, await trackersFromEnviron(environment), environment.report);
  if (environment.isThisProcess === true && jobId !== UNDEFINED_JOB_ID) {
    const recorders = run.backends.filter((backend): backend is JobTracker => "beginJob" in backend);
    await Promise.all(recorders.map((backend) => backend.beginJob()));
  }
  const parent = env[ENV_TORCHX_PARENT_RUN_ID];
  if (parent !== undefined) await run.addSource(parent);
  return run;
}
