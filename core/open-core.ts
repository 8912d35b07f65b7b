import type { KeyObject } from "node:crypto";
import type { Clock } from "#base/clock.ts";
import { Access } from "./access/access.ts";
import { AuditHeads } from "./access/audit/audit-head.ts";
import type { PasswordCost } from "./access/passwords/password.ts";
import { Artifacts } from "./artifacts/artifacts.ts";
import { Chores } from "./chores/chores.ts";
import { choreList } from "./chores/list.ts";
import { Comparisons } from "./compare/comparisons.ts";
import { Explore } from "./explore/explore.ts";
import { Ingest } from "./ingest/ingest.ts";
import { Follower } from "./journal/follower.ts";
import { Lineage } from "./lineage/lineage.ts";
import { Logs } from "./logs/logs.ts";
import { Models } from "./models/models.ts";
import { MetricKeys } from "./objective/metric-keys.ts";
import { Objectives } from "./objective/objectives.ts";
import type { AccessStore } from "./ports/access-store.ts";
import type { ArtifactStore } from "./ports/artifact-store.ts";
import type { BlobLedger } from "./ports/blob-ledger.ts";
import type { BlobStore } from "./ports/blob-store.ts";
import type { Engine } from "./ports/engine.ts";
import type { Journal } from "./ports/journal.ts";
import type { Leases } from "./ports/leases.ts";
import type { LineageStore } from "./ports/lineage-store.ts";
import type { LogStore } from "./ports/log-store.ts";
import type { NamespaceStore } from "./ports/namespace-store.ts";
import type { PointStore } from "./ports/point-store.ts";
import type { RunSearch } from "./ports/run-search.ts";
import type { RunStore } from "./ports/run-store.ts";
import type { UploadLedger } from "./ports/upload-ledger.ts";
import type { UploadStore } from "./ports/upload-store.ts";
import type { Backlog } from "./quota/backlog.ts";
import { CapturePolicies } from "./runs/capture-policies.ts";
import { NamespaceMoves } from "./runs/namespace-moves.ts";
import { NamespaceTrash } from "./runs/namespace-trash.ts";
import { Namespaces } from "./runs/namespaces.ts";
import { RunMoves } from "./runs/run-moves.ts";
import { Runs } from "./runs/runs.ts";
import { Groups } from "./series/groups.ts";
import { Metrics } from "./series/metrics.ts";
import { System, type SystemOptions } from "./system/system.ts";
import { Changes, type ChangesOptions } from "./watch/changes.ts";
import { ReadPositions } from "./watch/read-positions.ts";
import { Watches } from "./watch/watches.ts";

/** What core needs from outside. Several cores may be opened on the same ports. */
export interface Ports {
  engine: Engine;
  journal: Journal;
  namespaces: NamespaceStore;
  runs: RunStore;
  points: PointStore;
  access: AccessStore;
  links: LineageStore;
  artifacts: ArtifactStore;
  blobLedger: BlobLedger;
  uploadLedger: UploadLedger;
  leases: Leases;
  logs: LogStore;
  blobs: BlobStore;
  /** May be the same object. */
  uploads: UploadStore;
  search: RunSearch;
}

export interface CoreOptions {
  clock: Clock;
  system: SystemOptions;
  /** Of one artifact. */
  artifactSizeMax: number;
  /** The private key that signs heads of the audit; loaded for the first head. */
  auditSigner(): KeyObject;
  /** Called when unused content could not be destroyed; it is retried. */
  onSweepFailure: (thrown: unknown) => void;
  /** Called with the name of a chore that failed; it is retried. */
  onChoreFailure: (chore: string, thrown: unknown) => void;
  /** Of the chores; see ChoresParts. */
  steadyMs?: () => number;
  /** One of its own when absent. */
  backlog?: Backlog;
  changes?: ChangesOptions;
  /** How long reads are answered with the same position. */
  resealMs?: number;
  passwordCost?: PasswordCost;
}

export type Core = Awaited<ReturnType<typeof openCore>>;

/** All parts of core over the ports, which it does not close. Chores begin with `chores.start`. */
export async function openCore(ports: Ports, options: CoreOptions) {
  const { journal, namespaces: namespaceStore, runs: store, points, links, logs, search } = ports;
  const { clock, backlog } = options;
  const changes = new Changes(journal, options.changes);
  await changes.catchUp();
  const follower = new Follower(journal);
  await follower.catchUp();
  const captures = new CapturePolicies(namespaceStore, follower);
  await captures.load();
  const objectives = new Objectives({ store: namespaceStore });
  const metricKeys = new MetricKeys({ store: namespaceStore, objectives, clock });
  const runs = new Runs({ store, search, clock, captures, follower });
  const access = await Access.open({
    store: ports.access,
    clock,
    follower,
    ...(options.passwordCost !== undefined && { passwordCost: options.passwordCost }),
    // From the store: bindings on a run apply where it is now.
    locateRun: async (caller, id) => (await runs.getHead(caller, { by: "id", id })).namespace,
  });
  // Watchers must check their rights again.
  access.onChange(() => changes.notifyAll());
  const artifacts = openArtifacts(ports, options, { access, captures, follower });
  const chores = openChores(ports, options, { runs, artifacts });
  return {
    changes,
    follower,
    captures,
    access,
    auditHeads: new AuditHeads({ store: ports.access, clock, signer: () => options.auditSigner() }),
    runs,
    runMoves: new RunMoves({ runs, store, access, clock, follower }),
    objectives,
    ...openNamespaces(ports, { runs, access, captures, objectives, clock, follower }),
    ingest: new Ingest({
      journal,
      runs,
      clock,
      changes,
      captures,
      follower,
      ...(backlog !== undefined && { backlog }),
    }),
    metrics: new Metrics({ points, runs, clock }),
    metricKeys,
    comparisons: new Comparisons({ runs, points, metricKeys }),
    explore: new Explore({ search, metricKeys, objectives, clock }),
    groups: new Groups({ store, points, search, runs, clock }),
    artifacts,
    chores,
    models: new Models({ search, artifacts: ports.artifacts, runs: store, clock }),
    lineage: new Lineage({ store, links, runs, clock }),
    logs: new Logs({ store: logs, runs, changes }),
    positions: new ReadPositions(changes, options.resealMs),
    watches: new Watches({ store, search, logs, runs, clock, changes, follower }),
    system: openSystem(ports, options.system, { runs, clock, follower, artifacts }),
    /**
     * Ends everything that would run on by itself, when no call is running any more. The ports must still be open: what
     * was begun is finished, and stored. Watches, which never end by themselves, are ended first; `changes.stop` alone ends them earlier.
     */
    close: async (): Promise<void> => {
      changes.stop();
      follower.stop();
      await Promise.all([artifacts.sweep.stop(), chores.stop()]);
      await access.close();
    },
  };
}

function openArtifacts(
  ports: Ports,
  { clock, artifactSizeMax, onSweepFailure }: CoreOptions,
  { access, captures, follower }: { access: Access; captures: CapturePolicies; follower: Follower },
): Artifacts {
  return new Artifacts({
    store: ports.artifacts,
    ledger: ports.blobLedger,
    uploadLedger: ports.uploadLedger,
    uploadStore: ports.uploads,
    runs: ports.runs,
    blobs: ports.blobs,
    clock,
    captures,
    sizeBytesMax: artifactSizeMax,
    onAccessChange: (listener) => access.onChange(listener),
    follower,
    onSweepFailure,
  });
}

function openChores(
  { leases }: Ports,
  { clock, steadyMs, onChoreFailure }: CoreOptions,
  parts: { runs: Runs; artifacts: Artifacts },
): Chores {
  return new Chores({
    leases,
    clock,
    chores: choreList(parts),
    onFailure: onChoreFailure,
    ...(steadyMs !== undefined && { steadyMs }),
  });
}

function openNamespaces(
  { namespaces: store, runs: runStore, points, search }: Ports,
  parts: {
    runs: Runs;
    access: Access;
    captures: CapturePolicies;
    objectives: Objectives;
    clock: Clock;
    follower: Follower;
  },
): { namespaces: Namespaces; namespaceMoves: NamespaceMoves; namespaceTrash: NamespaceTrash } {
  return {
    namespaces: new Namespaces({ ...parts, store, runs: runStore, search }),
    namespaceMoves: new NamespaceMoves({ ...parts, store, search }),
    namespaceTrash: new NamespaceTrash({ ...parts, store, runs: runStore, points }),
  };
}

function openSystem(
  { engine, runs: store }: Ports,
  options: SystemOptions,
  parts: { runs: Runs; clock: Clock; follower: Follower; artifacts: Artifacts },
): System {
  const { runs, clock, follower, artifacts } = parts;
  return new System({ engine, store, runs, clock, follower, content: artifacts.content, options });
}
