import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ArtifactRecordSchema } from "#proto/cairn/v1/artifact_pb.ts";
import type { LogOrigin } from "#proto/cairn/v1/log_pb.ts";
import type { Picture } from "#proto/cairn/v1/key_pb.ts";
import type { Direction, ObjectiveSchema } from "#proto/cairn/v1/namespace_pb.ts";
import type { ProvenanceSchema, RunStatus } from "#proto/cairn/v1/run_pb.ts";
import type { Random } from "./random.ts";

/** What a demo run is, without ids and wall times. Times are seconds since the beginning of the demo's story. */
export interface DemoRun {
  /** The last part of its alias; unique in the demo. */
  key: string;
  /** Below the namespace of the demo. */
  namespace: string;
  name: string;
  params: Readonly<Record<string, unknown>>;
  tags?: Readonly<Record<string, string>>;
  notes?: string;
  provenance?: MessageInitShape<typeof ProvenanceSchema>;
  status: RunStatus;
  startS: number;
  endS?: number;
  /** Made only when the run has to be written. One per process that logged: each has a writer of its own. */
  parts?: () => DemoPart[];
  /** The parts logged at the same time, not one after another. */
  parallel?: boolean;
  sources?: readonly DemoSource[];
}

export interface DemoPart {
  writer: string;
  series: readonly DemoSeries[];
  log?: readonly DemoLog[];
  artifacts?: readonly MessageInitShape<typeof ArtifactRecordSchema>[];
}

export interface DemoSeries {
  key: string;
  labels?: Readonly<Record<string, string>>;
  steps: readonly number[];
  values: readonly number[];
  /** Seconds since the beginning of the story, one per point. */
  timesS: readonly number[];
}

export interface DemoLog {
  timeS: number;
  text: string;
  stream?: string;
  rank?: number;
  origin?: LogOrigin;
}

export interface DemoSource {
  /** The key of another demo run, or an external id such as "s3://…". */
  run?: string;
  id?: string;
  artifact?: string;
}

export interface DemoNamespace {
  /** Below the namespace of the demo; "" for itself. */
  path: string;
  description: string;
  objective?: MessageInitShape<typeof ObjectiveSchema>;
  keys?: readonly DemoKey[];
  closed?: boolean;
}

export interface DemoKey {
  key: string;
  unit?: string;
  direction?: Direction;
  description?: string;
  picture?: Picture;
}

export interface DemoTeam {
  namespaces: readonly DemoNamespace[];
  runs: readonly DemoRun[];
}

/** How much of everything. */
export interface DemoScale {
  sweepSeeds: number;
  sweepSteps: number;
  rankSteps: number;
  spikePoints: number;
  restartSteps: number;
}

export const SCALES = {
  full: { sweepSeeds: 5, sweepSteps: 400, rankSteps: 2_000, spikePoints: 100_000, restartSteps: 3_000 },
  small: { sweepSeeds: 1, sweepSteps: 100, rankSteps: 100, spikePoints: 5_000, restartSteps: 400 },
} as const satisfies Record<string, DemoScale>;
export type DemoScaleName = keyof typeof SCALES;

export interface StoryOptions {
  random: Random;
  scale: DemoScale;
}

/** The story is four weeks long; its end is the moment when the demo was first started. */
export const STORY_DAYS = 28;
export const DAY_S = 86_400;
export const HOUR_S = 3_600;

/** Seconds since the beginning of the story, for something so many days before its end. */
export function daysAgo(days: number): number {
  return (STORY_DAYS - days) * DAY_S;
}

export type Provenance = MessageInitShape<typeof ProvenanceSchema>;
export type ArtifactRecord = MessageInitShape<typeof ArtifactRecordSchema>;
