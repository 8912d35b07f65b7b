import type { Clock } from "#base/clock.ts";
import { newRunId } from "#base/ids.ts";
import { authorize, readableNamespaces, type Caller } from "../access/caller.ts";
import { CairnError, quote } from "../errors.ts";
import { limits } from "../limits.ts";
import {
  requireAliases,
  requireAtMost,
  requireParams,
  requireTags,
  requireText,
  requireTime,
} from "../model/check.ts";
import { parseNamespace } from "../model/path.ts";
import {
  ENDED,
  type Provenance,
  type Run,
  type RunChange,
  type RunRef,
  type RunStatus,
} from "../model/run.ts";
import type { RunSearch } from "../ports/run-search.ts";
import type { RunStore } from "../ports/run-store.ts";
import { parseQuery } from "../query/parser.ts";
import { parseColumns, project, unwanted } from "./columns.ts";

const LOCATED_MAX = 100_000;
const DEFAULT_NAMESPACE = "default";
const HEARTBEAT_SECONDS_MAX = 2 ** 31;

export interface NewRun {
  namespace: string;
  name: string;
  aliases: readonly string[];
  params: ReadonlyMap<string, string>;
  tags: ReadonlyMap<string, string>;
  provenance: Provenance | undefined;
  status: RunStatus | undefined;
  notes: string;
  startedUs: number | undefined;
  getOrCreate: boolean;
}

export interface SearchRuns {
  query: string;
  namespace: string;
  trashed: boolean;
  pageSize: number;
  pageToken: string;
  columns: readonly string[];
}

export interface FoundRuns {
  runs: FoundRun[];
  nextPageToken: string;
  totalCount: number;
}

/** A run with the metric columns that were asked for, by their names such as "val_acc.max". */
export interface FoundRun {
  run: Run;
  metrics: ReadonlyMap<string, number>;
}

export class Runs {
  readonly #store: RunStore;
  readonly #search: RunSearch;
  readonly #clock: Clock;
  /** Where runs live, by id: a run never moves. */
  readonly #located = new Map<string, string>();
  readonly #locating = new Map<string, Promise<Run>>();

  constructor(parts: { store: RunStore; search: RunSearch; clock: Clock }) {
    this.#store = parts.store;
    this.#search = parts.search;
    this.#clock = parts.clock;
  }

  async create(caller: Caller, request: NewRun): Promise<{ run: Run; created: boolean }> {
    const namespace = request.namespace === "" ? DEFAULT_NAMESPACE : parseNamespace(request.namespace);
    authorize(caller, namespace);
    const aliases = requireAliases(request.aliases);
    if (request.getOrCreate && aliases.length === 0) {
      throw new CairnError("invalid", "cannot get or create a run without an alias", {
        hint: "give the id all ranks share, such as the job's id, as an alias",
      });
    }
    const nowUs = this.#clock.nowUs();
    const status = request.status ?? "running";
    const id = newRunId(nowUs / 1000);
    const startedUs =
      request.startedUs === undefined
        ? status === "scheduled"
          ? undefined
          : nowUs
        : requireTime(request.startedUs, "start time");
    const run: Run = {
      id,
      namespace,
      name:
        request.name === ""
          ? `run-${id.slice(-8)}`
          : requireText(request.name, limits.nameBytesMax, "run name"),
      aliases,
      status,
      notes: requireText(request.notes, limits.notesBytesMax, "notes"),
      params: requireParams(request.params),
      tags: requireTags(request.tags),
      provenance: request.provenance && requireProvenance(request.provenance),
      createdUs: nowUs,
      startedUs,
      endedUs: ENDED.has(status) ? nowUs : undefined,
      updatedUs: nowUs,
      deletedUs: undefined,
    };
    return this.#store.createRun(run, { getOrCreate: request.getOrCreate });
  }

  /** The one run a reference names, if the caller may do to it what the call declares. */
  async get(caller: Caller, ref: RunRef): Promise<Run> {
    authorize(caller, ref.by === "id" ? "" : ref.namespace);
    const found = await this.#store.findRuns(checkedRef(ref));
    if (found.length === 0) throw new CairnError("not-found", `cannot find run ${quote(refText(ref))}`);
    if (found.length > 1) {
      const candidates = found.map((run) => `${run.namespace}/${run.id}`);
      throw new CairnError(
        "precondition",
        `cannot choose a run for alias ${quote(refText(ref))}: ${candidates.join(", ")} all carry it`,
        {
          reason: "ALIAS_AMBIGUOUS",
          facts: { candidates: candidates.join(" ") },
          hint: "name a deeper namespace, or one of these paths",
        },
      );
    }
    const run = found[0]!;
    authorize(caller, run.namespace);
    return run;
  }

  /**
   * The id of the run a reference names, for the calls that come thousands of times a second: of a run
   * by id the store is asked only once. Callers that ask for the same run at once share one look-up, so
   * that none overtakes another.
   */
  async locate(caller: Caller, ref: RunRef): Promise<string> {
    const known = ref.by === "id" ? this.#located.get(ref.id) : undefined;
    if (known !== undefined && ref.by === "id") {
      authorize(caller, known);
      return ref.id;
    }
    const key = JSON.stringify([caller.principal.kind, caller.principal.name, caller.permission, ref]);
    let locating = this.#locating.get(key);
    if (locating === undefined) {
      locating = this.get(caller, ref).finally(() => this.#locating.delete(key));
      this.#locating.set(key, locating);
    }
    const run = await locating;
    if (this.#located.size >= LOCATED_MAX) this.#located.clear();
    this.#located.set(run.id, run.namespace);
    return run.id;
  }

  /** Other runs may be in the store now. */
  forgetLocated(): void {
    this.#located.clear();
  }

  async update(caller: Caller, ref: RunRef, change: RunChange): Promise<Run> {
    const { id } = await this.get(caller, ref);
    return this.#store.updateRun(id, checkedChange(change), this.#clock.nowUs());
  }

  async delete(caller: Caller, ref: RunRef): Promise<Run> {
    const { id } = await this.get(caller, ref);
    return this.#store.setDeleted(id, this.#clock.nowUs());
  }

  async restore(caller: Caller, ref: RunRef): Promise<Run> {
    const { id } = await this.get(caller, ref);
    return this.#store.setDeleted(id, undefined);
  }

  async purge(caller: Caller, ref: RunRef): Promise<{ points: number }> {
    const { id } = await this.get(caller, ref);
    const purged = await this.#store.purgeRun(id);
    this.#located.delete(id);
    return purged;
  }

  async search(caller: Caller, request: SearchRuns): Promise<FoundRuns> {
    const nowUs = this.#clock.nowUs();
    const query = parseQuery(request.query, { nowUs });
    const projection = parseColumns(request.columns);
    const position = await this.#store.publish();
    const found = await this.#search.search(
      {
        query,
        readable: readableNamespaces(caller),
        under: parseNamespace(request.namespace, { root: true }),
        trashed: request.trashed,
        limit: pageSize(request.pageSize),
        after: request.pageToken === "" ? undefined : request.pageToken,
        metrics: projection.metrics,
        nowUs,
      },
      position,
    );
    const stored = new Map(
      (await this.#store.getRuns(found.ids, unwanted(projection))).map((run) => [run.id, run]),
    );
    const runs = found.ids.flatMap((id, row) => {
      const run = stored.get(id);
      // Purged between the search and now.
      if (run === undefined) return [];
      const metrics = new Map<string, number>();
      projection.metrics.forEach(({ name }, column) => {
        const value = found.metrics[column]?.[row];
        if (value !== undefined) metrics.set(name, value);
      });
      return [{ run: project(run, projection), metrics }];
    });
    return { runs, nextPageToken: found.next ?? "", totalCount: found.total };
  }

  /** Turns silent runs into lost ones; the server calls it now and then. */
  expireHeartbeats(): Promise<number> {
    return this.#store.expireHeartbeats(this.#clock.nowUs());
  }
}

export function pageSize(asked: number): number {
  if (asked < 0 || asked > limits.pageSizeMax) {
    throw new CairnError("invalid", `cannot return a page of ${asked}: the most is ${limits.pageSizeMax}`);
  }
  return asked === 0 ? limits.pageSizeDefault : asked;
}

export function checkedChange(change: RunChange): RunChange {
  const checked: RunChange = { ...change };
  if (change.name !== undefined) requireText(change.name, limits.nameBytesMax, "run name");
  if (change.notes !== undefined) requireText(change.notes, limits.notesBytesMax, "notes");
  if (change.params !== undefined) checked.params = requireParams(change.params);
  if (change.tags !== undefined) checked.tags = requireTags(change.tags);
  if (change.addAliases !== undefined) checked.addAliases = requireAliases(change.addAliases);
  if (change.provenance !== undefined) requireProvenance(change.provenance);
  if (change.endedUs !== undefined) requireTime(change.endedUs, "end time");
  if (change.heartbeatSeconds !== undefined) requireHeartbeat(change.heartbeatSeconds);
  requireAtMost(change.removeParams?.length ?? 0, limits.paramsPerRunMax, "params to remove");
  requireAtMost(change.removeTags?.length ?? 0, limits.tagsPerRunMax, "tags to remove");
  return checked;
}

/** 0 takes a promise back. */
function requireHeartbeat(seconds: number): void {
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= HEARTBEAT_SECONDS_MAX) return;
  throw new CairnError(
    "invalid",
    `cannot accept a heartbeat every "${seconds}" seconds: it is not 0 to ${HEARTBEAT_SECONDS_MAX}`,
  );
}

function requireProvenance(provenance: Provenance): Provenance {
  const { code } = provenance;
  const texts = [
    provenance.initialState,
    provenance.featurePipeline,
    provenance.study,
    ...provenance.trainingData,
    ...provenance.testData,
    ...provenance.command,
    ...[...provenance.environment].flat(),
    ...(code === undefined ? [] : [code.repository, code.commit, code.branch, code.dirtyPatch, code.archive]),
  ];
  let left: number = limits.provenanceBytesMax;
  for (const text of texts) left -= Buffer.byteLength(requireText(text, left, "provenance"));
  return provenance;
}

function checkedRef(ref: RunRef): RunRef {
  if (ref.by !== "alias") return ref;
  return {
    by: "alias",
    alias: requireText(ref.alias, limits.aliasBytesMax, "alias"),
    namespace: parseNamespace(ref.namespace, { root: true }),
  };
}

function refText(ref: RunRef): string {
  if (ref.by === "id") return ref.id;
  return ref.by === "path" ? `${ref.namespace}/${ref.id}` : ref.alias;
}
