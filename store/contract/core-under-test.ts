import type { Clock } from "#base/clock.ts";
import { ANONYMOUS, OWNER, type Caller } from "#core/access/caller.ts";
import { Comparisons } from "#core/compare/comparisons.ts";
import { Explore } from "#core/explore/explore.ts";
import { Ingest } from "#core/ingest/ingest.ts";
import { Follower } from "#core/journal/follower.ts";
import { Logs } from "#core/logs/logs.ts";
import { Lineage } from "#core/lineage/lineage.ts";
import { Objectives } from "#core/objective/objectives.ts";
import { CapturePolicies } from "#core/runs/capture-policies.ts";
import { Namespaces } from "#core/runs/namespaces.ts";
import { Runs, type NewRun } from "#core/runs/runs.ts";
import { Groups } from "#core/series/groups.ts";
import { Metrics } from "#core/series/metrics.ts";
import { System } from "#core/system/system.ts";
import { Changes, type ChangesOptions } from "#core/watch/changes.ts";
import { Watches } from "#core/watch/watches.ts";
import { ListSearch } from "./list-search.ts";
import { NOW_US, type StoresUnderTest } from "./stores.ts";

/** The owner at the machine. */
export const CALLER: Caller = { ...OWNER, permission: "write" };
export const STRANGER: Caller = { ...ANONYMOUS, permission: "read" };

export interface CoreUnderTest {
  runs: Runs;
  namespaces: Namespaces;
  ingest: Ingest;
  metrics: Metrics;
  objectives: Objectives;
  comparisons: Comparisons;
  explore: Explore;
  logs: Logs;
  watches: Watches;
  lineage: Lineage;
  groups: Groups;
  system: System;
  changes: Changes;
  follower: Follower;
  captures: CapturePolicies;
  /** Says what time it is; a test may set it. */
  clock: Clock & { us: number };
}

export function buildCore(
  { journal, runs: store, points, logs, links, feed, directory }: StoresUnderTest,
  options: ChangesOptions = {},
): CoreUnderTest {
  const changes = new Changes(journal, options);
  const clock = { us: NOW_US, nowUs: () => clock.us };
  const search = new ListSearch(feed);
  const follower = new Follower(journal);
  const captures = new CapturePolicies(store, follower);
  const objectives = new Objectives({ store });
  const runs = new Runs({ store, search, clock, captures, follower });
  const metrics = new Metrics({ store, points, runs, clock });
  return {
    clock,
    changes,
    follower,
    captures,
    runs,
    namespaces: new Namespaces({ store, search, clock, captures, objectives, follower }),
    ingest: new Ingest({ store, runs, clock, changes, captures }),
    metrics,
    objectives,
    comparisons: new Comparisons({ runs, points, metrics, objectives }),
    explore: new Explore({ store, search, metrics, objectives, clock }),
    logs: new Logs({ store: logs, runs, changes }),
    watches: new Watches({ store, search, logs, runs, clock, changes }),
    lineage: new Lineage({ store, links, runs, clock }),
    groups: new Groups({ store, points, search, runs, clock }),
    system: new System({
      store,
      runs,
      clock,
      options: { version: "0.0.0", engines: {}, backupDirectory: directory },
      follower,
    }),
  };
}

export function asked(request: Partial<NewRun> = {}): NewRun {
  return {
    namespace: "",
    name: "",
    aliases: [],
    params: new Map(),
    tags: new Map(),
    provenance: undefined,
    status: undefined,
    notes: "",
    startedUs: undefined,
    getOrCreate: false,
    ...request,
  };
}
