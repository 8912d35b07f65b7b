import type { ArtifactRecord } from "./artifact.ts";
import type { ForbiddenCapture } from "./capture.ts";
import type { HostName } from "./host.ts";
import type { LogLines } from "./log.ts";
import type { RunChange } from "./run.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { SeriesPoints } from "./series.ts";

/** Both ends belong to the range. */
export interface SeqRange {
  first: number;
  last: number;
}

/** A write of one writer to one run, applied as a whole or not at all. An envelope of a host has points only. */
export type Envelope = RunEnvelope | HostEnvelope;

export interface RunEnvelope extends EnvelopeParts {
  run: RunRef;
  host?: undefined;
}

export interface HostEnvelope extends EnvelopeParts {
  host: HostName;
  run?: undefined;
}

export interface EnvelopeParts {
  /** "" for an envelope without a number; `seq` is then 0. */
  writer: string;
  seq: number;
  series: readonly SeriesPoints[];
  /** undefined when the envelope carries points only. */
  change: RunChange | undefined;
  /** Numbers below `seq` the writer declares lost. */
  lost: readonly SeqRange[];
  /** Lines of the run's log, in order. */
  log?: readonly LogLines[] | undefined;
  /** One after another: of two with the same name and step the later one stays. */
  artifacts?: readonly ArtifactRecord[] | undefined;
  /**
   * For one without a number: to be stored once. One with equal content that the run accepted in the last `repeatMs` makes it
   * a duplicate, which changes nothing. For wires whose clients repeat a body when they missed the answer; two
   * that only say the same, such as a value without step and time, are one then.
   */
  dropRepeated?: true | undefined;
}

export interface EnvelopeAck {
  seq: number;
  duplicate: boolean;
  points: number;
  /** What was left out because it must not be captured there; undefined for nothing, and for a duplicate. */
  withheld?: Withheld | undefined;
}

export interface Withheld {
  lines: number;
  artifacts: number;
  /** Names it also for a patch, which is not counted. */
  forbidden: ForbiddenCapture;
}
