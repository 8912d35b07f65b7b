import { generateKeyPairSync } from "node:crypto";
import type { Clock } from "#base/clock.ts";
import { openMemoryBlobStore } from "#blob/memory/memory-blob-store.ts";
import { ANONYMOUS, OWNER, type Caller } from "#core/access/caller.ts";
import { openCore, type Core } from "#core/open-core.ts";
import type { RunSearch } from "#core/ports/run-search.ts";
import type { Backlog } from "#core/quota/backlog.ts";
import type { GroupRequest } from "#core/series/groups.ts";
import type { NewRun } from "#core/runs/runs.ts";
import type { ChangesOptions } from "#core/watch/changes.ts";
import type { BlobsUnderTest } from "./blob-under-test.ts";
import { FeedRecorder } from "./feed-recorder.ts";
import { ListSearch } from "./list-search.ts";
import { NOW_US, type StoresUnderTest } from "./stores.ts";

/** The owner at the machine. */
export const CALLER: Caller = { ...OWNER, permission: "write" };
export const NO_CREDENTIAL: Caller = { ...ANONYMOUS, permission: "read" };

const ARTIFACT_SIZE_MAX = 10_000_000;

export interface CoreUnderTest extends Core {
  /** The current time; a test may set it. */
  clock: Clock & { us: number };
}

export interface CoreUnderTestOptions extends ChangesOptions {
  /** Empty ones in memory when absent. */
  blobs?: BlobsUnderTest;
  onSweepFailure?(thrown: unknown): void;
  onChoreFailure?(chore: string, thrown: unknown): void;
  steadyMs?: () => number;
  /** One of its own at NOW_US when absent. */
  clock?: Clock & { us: number };
  /** A position per read when absent. */
  resealMs?: number;
  /** Whether there is a folder for them. */
  backups?: boolean;
  /** One of its own when absent. */
  backlog?: Backlog;
  /** A ListSearch when absent. */
  search?: RunSearch;
}

/** A core as servers have it, on a store under test. */
export async function buildCore(
  under: StoresUnderTest,
  {
    blobs = openMemoryBlobStore(),
    onSweepFailure,
    onChoreFailure,
    steadyMs,
    backups = true,
    backlog,
    search = new ListSearch(new FeedRecorder(under.changes)),
    clock = clockAt(NOW_US),
    resealMs = 0,
    ...changes
  }: CoreUnderTestOptions = {},
): Promise<CoreUnderTest> {
  const core = await openCore(
    {
      ...under,
      blobs,
      uploads: blobs,
      search,
    },
    {
      clock,
      changes,
      ...(backlog !== undefined && { backlog }),
      resealMs,
      artifactSizeMax: ARTIFACT_SIZE_MAX,
      auditSigner: () => generateKeyPairSync("ed25519").privateKey,
      // The lowest cost: that of a real one is not tested here.
      passwordCost: { memoryKib: 8, passes: 1 },
      onSweepFailure: (thrown) => onSweepFailure?.(thrown),
      onChoreFailure: (chore, thrown) => onChoreFailure?.(chore, thrown),
      ...(steadyMs !== undefined && { steadyMs }),
      system: { version: "0.0.0", engines: {}, backupDirectory: backups ? under.directory : undefined },
    },
  );
  return { ...core, clock };
}

function clockAt(us: number): Clock & { us: number } {
  const clock = { us, nowUs: () => clock.us };
  return clock;
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

export function groupsOf(request: Partial<GroupRequest> = {}): GroupRequest {
  return {
    groups: [],
    query: "",
    namespace: "",
    groupBy: [],
    key: "loss",
    labels: undefined,
    axis: "step",
    from: undefined,
    to: undefined,
    buckets: 0,
    quantiles: [],
    form: "bytes",
    ...request,
  };
}
