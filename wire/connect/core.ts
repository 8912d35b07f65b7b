import type { Access } from "#core/access/access.ts";
import type { AuditHeads } from "#core/access/audit/audit-head.ts";
import type { Artifacts } from "#core/artifacts/artifacts.ts";
import type { Comparisons } from "#core/compare/comparisons.ts";
import type { Explore } from "#core/explore/explore.ts";
import type { Ingest } from "#core/ingest/ingest.ts";
import type { Lineage } from "#core/lineage/lineage.ts";
import type { Logs } from "#core/logs/logs.ts";
import type { Models } from "#core/models/models.ts";
import type { MetricKeys } from "#core/objective/metric-keys.ts";
import type { Objectives } from "#core/objective/objectives.ts";
import type { NamespaceMoves } from "#core/runs/namespace-moves.ts";
import type { NamespaceTrash } from "#core/runs/namespace-trash.ts";
import type { Namespaces } from "#core/runs/namespaces.ts";
import type { RunMoves } from "#core/runs/run-moves.ts";
import type { Runs } from "#core/runs/runs.ts";
import type { Groups } from "#core/series/groups.ts";
import type { Metrics } from "#core/series/metrics.ts";
import type { System } from "#core/system/system.ts";
import type { ReadPositions } from "#core/watch/read-positions.ts";
import type { Watches } from "#core/watch/watches.ts";
import type { Admission } from "#wire/kit/identify.ts";
import type { OnFailure } from "./error.ts";
import type { HealthSource } from "./services/health.ts";

/** The parts of core that this wire calls. */
export interface ConnectCore {
  access: Access;
  auditHeads: AuditHeads;
  namespaces: Namespaces;
  namespaceMoves: NamespaceMoves;
  namespaceTrash: NamespaceTrash;
  objectives: Objectives;
  comparisons: Comparisons;
  explore: Explore;
  runs: Runs;
  runMoves: RunMoves;
  ingest: Ingest;
  metrics: Metrics;
  metricKeys: MetricKeys;
  groups: Groups;
  artifacts: Artifacts;
  models: Models;
  lineage: Lineage;
  logs: Logs;
  positions: ReadPositions;
  watches: Watches;
  system: System;
}

export interface ConnectOptions extends Admission {
  core: ConnectCore;
  health: HealthSource;
  onFailure: OnFailure;
  /** Aborted when the server stops: ends calls that would otherwise never end. */
  stopping: AbortSignal;
  /** Off only in tests, to show that both ways behave the same. */
  fast?: boolean;
}
