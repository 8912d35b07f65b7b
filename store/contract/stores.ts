/** Helpers of the suites for RunStore and PointStore: a store to test, and ways to fill it. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { newRunId } from "#base/ids.ts";
import type { CairnError, ErrorCode } from "#lang/errors.ts";
import type { EnvelopeAck } from "#core/types/envelope.ts";
import type { HostName } from "#core/types/host.ts";
import type { Run } from "#core/types/run.ts";
import type { Labels, Points, SeriesPoints, Values } from "#core/types/series.ts";
import type {
  PointStore,
  ReadSeries,
  SelectedSeries,
  SelectSeries,
  SeriesData,
  SeriesOwner,
  SeriesSelector,
} from "#core/ports/point-store.ts";
import type { AccessStore, AuditRecord } from "#core/ports/access-store.ts";
import type { ArtifactStore } from "#core/ports/artifact-store.ts";
import type { BlobLedger } from "#core/ports/blob-ledger.ts";
import type { Engine } from "#core/ports/engine.ts";
import type { AppendEnvelope, AppendOutcome, HostAppend, Journal, RunAppend } from "#core/ports/journal.ts";
import type { Leases } from "#core/ports/leases.ts";
import type { LineageStore } from "#core/ports/lineage-store.ts";
import type { LogStore } from "#core/ports/log-store.ts";
import type { NamespaceStore, NewNamespace } from "#core/ports/namespace-store.ts";
import type { HeavyPart, RunStore } from "#core/ports/run-store.ts";
import type { RunChanges, RunChangesLink } from "#core/ports/run-changes.ts";
import type { UploadLedger } from "#core/ports/upload-ledger.ts";
import type { FeedRecorder } from "./feed-recorder.ts";

/** A new, empty store. */
export interface StoresUnderTest {
  engine: Engine;
  journal: Journal;
  namespaces: NamespaceStore;
  runs: RunStore;
  points: PointStore;
  access: AccessStore;
  links: LineageStore;
  logs: LogStore;
  artifacts: ArtifactStore;
  blobLedger: BlobLedger;
  uploadLedger: UploadLedger;
  leases: Leases;
  /** For another follower in another thread; absent where none follows this engine. */
  followRuns?(): Promise<RunChangesLink>;
  changes: RunChanges;
  /** Follows them. */
  feed: FeedRecorder;
  /** An empty folder for backups. */
  directory: string;
  /** Moves everything into its final stored form. */
  settle(): Promise<void>;
  /** Stops and starts again on the same data; absent where nothing outlives the store. */
  reopen?(): Promise<StoresUnderTest>;
  /** Closes the store and removes everything. */
  discard(): Promise<void>;
}

export type OpenStores = () => Promise<StoresUnderTest>;

/** The store of the running test, as a suite's cases use it. */
export interface Bench {
  readonly under: StoresUnderTest;
  readonly engine: Engine;
  readonly journal: Journal;
  readonly namespaces: NamespaceStore;
  readonly runs: RunStore;
  readonly points: PointStore;
  reopen(): Promise<void>;
}

/** Opens a store for each test of the suite around it and discards it afterwards. */
export function useStores(open: OpenStores): Bench {
  return benchOf(open, beforeEach, afterEach);
}

/** One store for all tests of the suite: for those that only use runs of their own. */
export function useSharedStores(open: OpenStores): Bench {
  return benchOf(open, beforeAll, afterAll);
}

function benchOf(open: OpenStores, before: typeof beforeAll, after: typeof afterAll): Bench {
  let under: StoresUnderTest;
  before(async () => {
    under = await open();
  });
  after(() => under.discard());
  return {
    get under() {
      return under;
    },
    get engine() {
      return under.engine;
    },
    get journal() {
      return under.journal;
    },
    get namespaces() {
      return under.namespaces;
    },
    get runs() {
      return under.runs;
    },
    get points() {
      return under.points;
    },
    async reopen() {
      if (under.reopen !== undefined) under = await under.reopen();
    },
  };
}

/** Skips the tests of the suite around it on an engine without this capability. */
export function needsCapability(bench: Bench, capability: "copies" | "integrity"): void {
  beforeEach(({ skip }) => skip(bench.engine[capability] === undefined, `the engine has no ${capability}`));
}

/** Where the engine has checksums of its own, they are right, and it has that many points and runs. */
export async function expectIntact(
  { engine }: Bench,
  counts: { points?: number; runs?: number } = {},
): Promise<void> {
  if (engine.integrity === undefined) return;
  expect(await engine.integrity.checkIntegrity()).toMatchObject({ ...counts, problems: [] });
}

/** Runs `check` on data just written, again in its final form, and again after a restart. */
export async function inEveryForm(bench: Bench, check: () => Promise<void>): Promise<void> {
  await check();
  await bench.under.settle();
  await check();
  await bench.reopen();
  await check();
}

export const NOW_US = 1_767_225_600_000_000;

/** The audit record of a deletion in tests that do not check it. */
export const AUDIT: AuditRecord = {
  principal: "ada",
  action: "test",
  target: "",
  facts: {},
  timeUs: NOW_US,
};

export function newRun(run: Partial<Run> = {}): Run {
  return {
    id: newRunId(NOW_US / 1000),
    namespace: "lab",
    name: "a run",
    aliases: [],
    status: "running",
    notes: "",
    params: new Map(),
    tags: new Map(),
    provenance: undefined,
    createdUs: NOW_US,
    startedUs: NOW_US,
    endedUs: undefined,
    updatedUs: NOW_US,
    deletedUs: undefined,
    creator: "",
    endedBy: "",
    changedBy: "",
    deletedBy: "",
    ...run,
  };
}

export function newNamespace(path: string, namespace: Partial<NewNamespace> = {}): NewNamespace {
  return {
    path,
    description: "",
    objective: undefined,
    tags: new Map(),
    createdUs: NOW_US,
    ...namespace,
  };
}

/** Creates a run and returns its id. */
export async function createRun(runs: RunStore, run: Partial<Run> = {}): Promise<string> {
  const created = await runs.createRun(newRun(run), { getOrCreate: false });
  return created.run.id;
}

export async function getRuns(
  runs: RunStore,
  ids: readonly string[],
  omit: readonly HeavyPart[] = [],
): Promise<Run[]> {
  const read = await runs.getRuns(ids, { omit, bytesMax: Infinity });
  return read.runs;
}

export async function getRun(runs: RunStore, id: string): Promise<Run> {
  const [run] = await getRuns(runs, [id]);
  if (run === undefined) throw new Error(`run ${id} does not exist`);
  return run;
}

export function points(values: Values, columns: Partial<Omit<Points, "values">> = {}): Points {
  return {
    count: values.data.length,
    steps: undefined,
    times: undefined,
    nanos: undefined,
    ...columns,
    values,
  };
}

/** Numbers at steps `from`, from + 1, … */
export function numbers(key: string, values: readonly number[], from = 0, labels: Labels = []): SeriesPoints {
  const steps = Float64Array.from(values, (_, i) => from + i);
  return { key, labels, points: points({ kind: "number", data: Float64Array.from(values) }, { steps }) };
}

/** Of writer "w" unless said otherwise; `seq: 0` makes it one without a number. */
export function envelope(runId: string, seq: number, parts: Partial<RunAppend> = {}): RunAppend {
  return { runId, writer: seq === 0 ? "" : "w", seq, series: [], change: undefined, lost: [], ...parts };
}

/** Of a host. */
export function hostEnvelope(host: HostName, series: readonly SeriesPoints[]): HostAppend {
  return { host, writer: "", seq: 0, series, change: undefined, lost: [] };
}

export async function appendOne(
  journal: Journal,
  one: AppendEnvelope,
  nowUs: number = NOW_US,
): Promise<EnvelopeAck> {
  const [outcome] = await journal.append([one], nowUs);
  return ackOf(outcome);
}

export function ackOf(outcome: AppendOutcome | undefined): EnvelopeAck {
  if (outcome === undefined) throw new Error("the store returned no outcome");
  if (!outcome.ok) throw outcome.error;
  return outcome.ack;
}

/** The expected fields of an error: its code and, where given, its reason. */
export function refused(code: ErrorCode, reason?: string, more: Partial<CairnError> = {}): unknown {
  return expect.objectContaining({
    name: "CairnError",
    code,
    ...(reason !== undefined && { reason }),
    ...more,
  });
}

export const EVERYTHING: Omit<ReadSeries, "selectors"> = {
  axis: "step",
  from: undefined,
  to: undefined,
  buckets: 0,
  includeReplaced: false,
  onlyReplaced: false,
  pointsMax: 5_000_000,
  bytesMax: 160 << 20,
  numberBytes: 8,
};

/** All series of a run or a host, unless said otherwise. */
export function selectOf(
  store: PointStore,
  owner: string | SeriesOwner,
  parts: Partial<SelectSeries> = {},
): Promise<SelectedSeries> {
  return store.selectSeries({
    scope: { owners: [typeof owner === "string" ? { runId: owner } : owner] },
    matchers: [],
    lookMax: 1_000,
    pattern: undefined,
    after: undefined,
    limit: 1_000,
    bytesMax: Infinity,
    isCounted: true,
    ...parts,
  });
}

/** The one requested series. */
export async function readOne(
  store: PointStore,
  selector: SeriesOwner & Pick<SeriesSelector, "key"> & { labels?: Labels },
  request: Partial<ReadSeries> = {},
): Promise<SeriesData> {
  const { series } = await store.readSeries({
    ...EVERYTHING,
    selectors: [{ labels: [], ...selector }],
    ...request,
  });
  const [first] = series;
  if (first === undefined || series.length > 1) throw new Error(`${series.length} series were read, not one`);
  return first;
}

/** Every point of one series, in order of its steps. */
export async function readPoints(
  store: PointStore,
  owner: string | SeriesOwner,
  key: string,
  request: Partial<ReadSeries> & { labels?: Labels } = {},
): Promise<Points> {
  const { labels, ...rest } = request;
  const owned = typeof owner === "string" ? { runId: owner } : owner;
  const { data } = await readOne(store, { ...owned, key, labels: labels ?? [] }, rest);
  if (data.form !== "exact") throw new Error("the answer is a band");
  return data.points;
}

export async function readNumbers(
  store: PointStore,
  owner: string | SeriesOwner,
  key: string,
  request: Partial<ReadSeries> & { labels?: Labels } = {},
): Promise<number[]> {
  const { values } = await readPoints(store, owner, key, request);
  if (values.kind !== "number") throw new Error(`series ${key} holds ${values.kind} values`);
  return [...values.data];
}
