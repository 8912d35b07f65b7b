/** The tracker module of TorchX for TypeScript, in Node. docs/guides/trackers.md is its guide. */
export {
  AppRunTrackableSource,
  ENV_TORCHX_JOB_ID,
  ENV_TORCHX_PARENT_RUN_ID,
  ENV_TORCHX_TRACKERS,
  Lineage,
  metadataEntries,
  TrackerArtifact,
  TrackerBase,
  TrackerSource,
  type LineageLink,
  type LineageRun,
  type Metadata,
  type MetadataValue,
  type ReportProblem,
  type RunIdFilters,
  type TrackerFactory,
} from "./api.ts";
export { AppRun, appRunFromEnv } from "./app-run.ts";
export { registerTracker } from "./registry.ts";
export { buildTrackers, trackerConfigEnvVarName, trackersFromEnviron } from "./trackers-from-environ.ts";
export { configuredTrackers } from "./torchx-config.ts";
export { walkLineage } from "./walk-lineage.ts";
export { CairnTracker, createCairnTracker } from "./cairn/cairn-tracker.ts";
export { CairnResultTracker, createResultTracker, ResultTracker } from "./result-tracker.ts";
export { readMetadata, writeMetadata } from "./metadata-json.ts";
export { MemoryTracker } from "./memory-tracker.ts";
export { FsspecTracker } from "./fsspec/fsspec-tracker.ts";
export { LocalFileSystem } from "./fsspec/local-file-system.ts";
export { MemoryFileSystem } from "./fsspec/memory-file-system.ts";
export type { TrackerFileSystem } from "./fsspec/tracker-file-system.ts";
export { MLflowTracker } from "./mlflow/mlflow-tracker.ts";
