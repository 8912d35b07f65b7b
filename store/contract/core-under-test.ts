import type { Clock } from "#base/clock.ts";
import { ANONYMOUS, OWNER, type Caller } from "#core/access/caller.ts";
import { Ingest } from "#core/ingest/ingest.ts";
import { Namespaces } from "#core/runs/namespaces.ts";
import { Runs, type NewRun } from "#core/runs/runs.ts";
import { Metrics } from "#core/series/metrics.ts";
import { System } from "#core/system/system.ts";
import { ListSearch } from "./list-search.ts";
import { NOW_US, type StoresUnderTest } from "./stores.ts";

/** The owner at the machine. */
export const CALLER: Caller = { principal: OWNER, permission: "write" };
export const STRANGER: Caller = { principal: ANONYMOUS, permission: "read" };

export interface CoreUnderTest {
  runs: Runs;
  namespaces: Namespaces;
  ingest: Ingest;
  metrics: Metrics;
  system: System;
  /** Says what time it is; a test may set it. */
  clock: Clock & { us: number };
}

export function buildCore({ runs: store, points, feed, directory }: StoresUnderTest): CoreUnderTest {
  const clock = { us: NOW_US, nowUs: () => clock.us };
  const search = new ListSearch(feed);
  const runs = new Runs({ store, search, clock });
  return {
    clock,
    runs,
    namespaces: new Namespaces({ store, search, clock }),
    ingest: new Ingest({ store, runs, clock }),
    metrics: new Metrics({ store, points, runs }),
    system: new System({
      store,
      runs,
      clock,
      options: { version: "0.0.0", engines: {}, backupDirectory: directory },
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
