import type { Access } from "#core/access/access.ts";
import type { AuditHeads } from "#core/access/audit-head.ts";
import type { Identity } from "#core/access/caller.ts";
import type { Artifacts } from "#core/artifacts/artifacts.ts";
import type { Comparisons } from "#core/compare/comparisons.ts";
import type { Explore } from "#core/explore/explore.ts";
import type { Ingest } from "#core/ingest/ingest.ts";
import type { Lineage } from "#core/lineage/lineage.ts";
import type { Logs } from "#core/logs/logs.ts";
import type { Objectives } from "#core/objective/objectives.ts";
import type { Namespaces } from "#core/runs/namespaces.ts";
import type { Runs } from "#core/runs/runs.ts";
import type { Groups } from "#core/series/groups.ts";
import type { Metrics } from "#core/series/metrics.ts";
import type { System } from "#core/system/system.ts";
import type { Watches } from "#core/watch/watches.ts";
import type { Traffic } from "#wire/kit/traffic.ts";
import type { OnFailure } from "./error.ts";
import type { HealthSource } from "./health.ts";

/** What this wire calls. */
export interface ConnectCore {
  access: Access;
  auditHeads: AuditHeads;
  namespaces: Namespaces;
  objectives: Objectives;
  comparisons: Comparisons;
  explore: Explore;
  runs: Runs;
  ingest: Ingest;
  metrics: Metrics;
  groups: Groups;
  artifacts: Artifacts;
  lineage: Lineage;
  logs: Logs;
  watches: Watches;
  system: System;
}

/** What a request says about who sent it. */
export interface Sender {
  address: string | undefined;
  /** A browser asks for this content by itself, for an image, a frame or a link, and can add no header. */
  byBrowser?: boolean;
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The same object for all requests of a connection; undefined once it is gone. */
  connection: Connection | undefined;
}

/** Both ends of a TCP connection, as sockets have them; undefined once it is closed. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

export interface ConnectOptions {
  core: ConnectCore;
  /** Throws `unauthenticated` for a credential that is wrong; a missing one makes an anonymous principal. */
  authenticate(sender: Sender): Identity;
  /** What all wires share. */
  traffic: Traffic;
  health: HealthSource;
  onFailure: OnFailure;
  /** Aborted when the server stops: ends what would otherwise go on for ever. */
  stopping: AbortSignal;
  /** Off only in tests, to show that both ways behave the same. */
  fast?: boolean;
}
