/** The client for programs that run in Node. What a browser may use is in browser.ts. */
export * from "./browser.ts";
export { init } from "./run/init.ts";
export type { CaptureOptions, InitOptions } from "./run/init-options.ts";
export { Run, type EndStatus, type FinishReport } from "./run/run.ts";
export type { LogOptions, LogValues } from "./run/record/recorder.ts";
export type { ParamValue } from "./run/json-text.ts";
export { Params, type ParamValues } from "./run/params.ts";
export type { TagValue, TagValues } from "./run/tags.ts";
export type { DataRole, DataVersion, StatedProvenance } from "./run/statements/stated-provenance.ts";
export type { KeyDescription, PictureName } from "./run/statements/key-description.ts";
export type { ArtifactOptions, MediaOptions } from "./run/files.ts";
export { discardRefused, sync, type RefusedFrame, type SyncOptions, type SyncReport } from "./sync.ts";
export { DEFAULT_SERVER, findServer } from "./login.ts";
