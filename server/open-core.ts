import { join } from "node:path";
import type { Logger } from "pino";
import type { Clock } from "#base/clock.ts";
import { Access } from "#core/access/access.ts";
import { AuditHeads } from "#core/access/audit/audit-head.ts";
import type { Scope } from "#core/access/scope.ts";
import { Artifacts } from "#core/artifacts/artifacts.ts";
import { Comparisons } from "#core/compare/comparisons.ts";
import { Explore } from "#core/explore/explore.ts";
import { Ingest } from "#core/ingest/ingest.ts";
import { Lineage } from "#core/lineage/lineage.ts";
import { Logs } from "#core/logs/logs.ts";
import type { Backlog } from "#core/quota/backlog.ts";
import { Objectives } from "#core/objective/objectives.ts";
import { CapturePolicies } from "#core/runs/capture-policies.ts";
import { Namespaces } from "#core/runs/namespaces.ts";
import { Runs } from "#core/runs/runs.ts";
import { Groups } from "#core/series/groups.ts";
import { Metrics } from "#core/series/metrics.ts";
import { System } from "#core/system/system.ts";
import { Changes } from "#core/watch/changes.ts";
import { Watches } from "#core/watch/watches.ts";
import { auditSigner } from "./audit-key.ts";
import { MEMORY, type Settings } from "./settings.ts";
import type { Stores } from "./stores.ts";
import { VERSION } from "./version.ts";

export type Core = Awaited<ReturnType<typeof openCore>>["core"];

/** All parts of core over the stores, and the changes they notify each other of. */
export async function openCore(
  settings: Settings,
  stores: Stores,
  { clock, backlog, log }: { clock: Clock; backlog: Backlog; log: Logger },
) {
  const { runs: store, points, search } = stores;
  const changes = new Changes(stores.journal);
  await changes.catchUp();
  const onGone = (scope: Scope) => access.forget(scope);
  const captures = new CapturePolicies(store);
  await captures.load();
  const objectives = new Objectives({ store });
  const runs = new Runs({ store, search, clock, captures, onGone });
  const access = await Access.open({
    store: stores.access,
    clock,
    locateRun: async (caller, id) => (await runs.whereIs(caller, { by: "id", id })).namespace,
  });
  // Whoever watches must find out whether it still may.
  access.onChange(() => changes.rouse());
  const metrics = new Metrics({ store, points, runs, clock });
  const artifacts = new Artifacts({
    store: stores.artifacts,
    ledger: stores.blobLedger,
    uploadLedger: stores.uploadLedger,
    runs: store,
    blobs: stores.blobs,
    clock,
    captures,
    sizeBytesMax: settings.artifactSizeMax,
    onAccessChange: (listener) => access.onChange(listener),
    onGone,
    onSweepFailure: (thrown) => log.warn({ err: thrown }, "cannot destroy unused content"),
  });
  const core = {
    access,
    auditHeads: new AuditHeads({
      store: stores.access,
      clock,
      signer: auditSigner(settings.data === MEMORY ? undefined : settings.data),
    }),
    runs,
    objectives,
    namespaces: new Namespaces({ store, search, clock, captures, objectives, onGone }),
    ingest: new Ingest({ store, runs, clock, changes, captures, backlog }),
    metrics,
    comparisons: new Comparisons({ runs, points, metrics, objectives }),
    explore: new Explore({ store, search, metrics, objectives, clock }),
    groups: new Groups({ store, points, search, runs, clock }),
    artifacts,
    lineage: new Lineage({ store, links: stores.links, runs, clock }),
    logs: new Logs({ store: stores.logs, runs, changes }),
    watches: new Watches({ store, search, logs: stores.logs, runs, clock, changes }),
    system: new System({
      store,
      runs,
      clock,
      onRestored: async () => {
        await captures.load();
        await access.reload();
      },
      content: artifacts.content,
      options: {
        version: VERSION,
        engines: stores.engines,
        backupDirectory: settings.data === MEMORY ? undefined : join(settings.data, "backups"),
      },
    }),
  };
  return { core, changes };
}
