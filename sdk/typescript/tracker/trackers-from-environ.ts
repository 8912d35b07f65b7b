import { ENV_TORCHX_TRACKERS, TrackerBase, type ReportProblem, type TrackerFactory } from "./api.ts";
import { findTrackerFactory } from "./registry.ts";
import { messageOf, reportToConsole } from "./report-problem.ts";

export interface TrackerEnvironment {
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Where the application is: its packages and relative paths are found from there. */
  cwd?: string | undefined;
  /** Called for trackers that are left out. */
  report?: ReportProblem | undefined;
}

/** What a tracker is made from. */
export interface TrackerChoice {
  /** What finds the factory: a registered name, or `module:factory`. */
  factory: string;
  config: string | null;
}

/** `TORCHX_TRACKER_<NAME>_CONFIG`. */
export function trackerConfigEnvVarName(trackerName: string): string {
  return `TORCHX_TRACKER_${trackerName.toUpperCase()}_CONFIG`;
}

/** The trackers that TORCHX_TRACKERS names, with their configuration. Names are not trimmed: TorchX does not, either. */
export function trackerConfigsFromEnviron(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Map<string, string | null> {
  const names = env[ENV_TORCHX_TRACKERS];
  if (names === undefined) return new Map();
  return new Map(names.split(",").map((name) => [name, env[trackerConfigEnvVarName(name)] ?? null]));
}

/** The trackers a job is to write to, in the order TORCHX_TRACKERS names them. */
export function trackersFromEnviron(environment: TrackerEnvironment = {}): Promise<TrackerBase[]> {
  return buildTrackers(trackerConfigsFromEnviron(environment.env ?? process.env), environment);
}

/**
 * Makes trackers, by the name of their factory. An unavailable one is left out and reported: the factory is
 * missing, is a class or not a function, throws, or makes something that is not a tracker.
 */
export async function buildTrackers(
  configs: ReadonlyMap<string, string | null> | readonly TrackerChoice[],
  environment: TrackerEnvironment = {},
): Promise<TrackerBase[]> {
  const report = environment.report ?? reportToConsole;
  const choices =
    configs instanceof Map
      ? [...(configs as ReadonlyMap<string, string | null>)].map(([factory, config]) => ({ factory, config }))
      : (configs as readonly TrackerChoice[]);
  const trackers: TrackerBase[] = [];
  for (const { factory, config } of choices) {
    try {
      const found = await findTrackerFactory(factory, environment.cwd ?? process.cwd());
      trackers.push(await makeTracker(found, config));
    } catch (thrown) {
      report(`cannot use tracker "${factory}": ${messageOf(thrown)}; it is left out`);
    }
  }
  return trackers;
}

async function makeTracker(factory: TrackerFactory, config: string | null): Promise<TrackerBase> {
  const tracker: unknown = await factory(config);
  const missing = METHODS.filter(
    (method) => typeof (tracker as Record<string, unknown> | null)?.[method] !== "function",
  );
  if (missing.length > 0) throw new Error(`what its factory made has no method ${missing.join(", ")}`);
  return tracker as TrackerBase;
}

const METHODS: readonly (keyof TrackerBase)[] = [
  "addArtifact",
  "artifacts",
  "addMetadata",
  "metadata",
  "addSource",
  "sources",
  "lineage",
  "runIds",
];
