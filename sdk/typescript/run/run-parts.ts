import type { Clock } from "#base/clock.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { Transmitter } from "../delivery/transmitter.ts";
import type { Spool } from "../spool/spool.ts";
import type { CapturedProvenance } from "./captured-provenance.ts";
import type { Notices } from "./notices.ts";

/** A capture that lasts as long as the run, such as the console. */
export interface Capture {
  stop(): void;
}

export interface RunParts {
  spool: Spool;
  delivery: Delivery;
  /** undefined for a run that stays offline. */
  transmitter: Transmitter | undefined;
  notices: Notices;
  clock: Clock;
  /** Where it is; undefined where only the server knows. */
  namespace: string | undefined;
  /** What is captured about it; undefined where nothing is. */
  captured: CapturedProvenance | undefined;
  /** The token of the server; it never reaches the disk. */
  token(): string | undefined;
  labels: Readonly<Record<string, string>>;
  rank: number | undefined;
  /** Whether this process reports how the run ended. */
  isPrimary: boolean;
  everyCall: boolean;
  heartbeatSeconds: number;
  finishMs: number;
  watchExit: boolean;
}
