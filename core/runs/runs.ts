import type { Clock } from "#base/clock.ts";
import { newRunId } from "#base/ids.ts";
import { auditRecord } from "../access/audit/audit-record.ts";
import { authorize, authorizeCall, maySee, type Caller } from "../access/caller.ts";
import type { Scope } from "../types/scope.ts";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import {
  requireAliases,
  requireAtMost,
  requireParams,
  requireTags,
  requireText,
  requireTime,
} from "../types/check.ts";
import { allowedChange, allowedProvenance, type ForbiddenCapture } from "../types/capture.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import { requireFields, requireProvenance } from "../types/check-provenance.ts";
import type { Provenance } from "../types/provenance.ts";
import type { Run, RunChange } from "../types/run.ts";
import type { RunRef } from "#lang/run-ref.ts";
import { ENDED, type RunStatus } from "#lang/statuses.ts";
import type { Follower } from "../journal/follower.ts";
import { pageSize } from "../lists/page-size.ts";
import { CHANGED, type JournalChange } from "../ports/journal.ts";
import type { RunSearch } from "../ports/run-search.ts";
import { HEAVY_PARTS, type RunStore } from "../ports/run-store.ts";
import { AT_ONCE, type BeginHeavy } from "../quota/heavy-answer.ts";
import type { Query } from "#lang/query/ast.ts";
import { readQuery } from "#lang/query/check.ts";
import { aliasTaken, refusalFor } from "./alias-refusal.ts";
import type { CapturePolicies } from "./capture-policies.ts";
import { checkedRef, chooseRun, findRun, missingRun } from "./choose-run.ts";
import { parseColumns } from "./columns.ts";
import { fittingPage } from "./fitting-page.ts";
import { toFoundRuns, type FoundRun } from "./found-runs.ts";

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
  query: string | Query;
  namespace: string;
  trashed: boolean;
  pageSize: number;
  pageToken: string;
  columns: readonly string[];
  /** 0 when absent. */
  offset?: number;
}

export interface FoundRuns {
  runs: FoundRun[];
  nextPageToken: string;
  totalCount: number;
}

export class Runs {
  readonly #store: RunStore;
  readonly #search: RunSearch;
  readonly #clock: Clock;
  readonly #captures: CapturePolicies;
  readonly #follower: Follower;
  /** Where runs are, by id. */
  readonly #located = new Map<string, string>();
  readonly #locating = new Map<string, Promise<Run[]>>();
  /** Rises when runs are purged or moved: earlier results may be outdated. */
  #moves = 0;
  /** Rises when a namespace is moved. */
  #namespaceMoves = 0;

  constructor(parts: {
    store: RunStore;
    search: RunSearch;
    clock: Clock;
    captures: CapturePolicies;
    follower: Follower;
  }) {
    this.#follower = parts.follower;
    this.#store = parts.store;
    this.#search = parts.search;
    this.#clock = parts.clock;
    this.#captures = parts.captures;
    parts.follower.follow(CHANGED.purged | CHANGED.moved, (changes) => this.#forget(changes));
  }

  /**
   * `forbidden` says what must not be captured for the run; a patch sent against it is left out. `heavy` as in
   * `get`; "omit" where the answer needs no params, tags, notes and provenance.
   */
  async create(
    caller: Caller,
    request: NewRun,
    heavy: BeginHeavy | "omit" = AT_ONCE,
  ): Promise<{ run: Run; created: boolean; forbidden: ForbiddenCapture }> {
    const namespace = request.namespace === "" ? DEFAULT_NAMESPACE : parseNamespace(request.namespace);
    authorize(caller, { namespace });
    const aliases = requireAliases(request.aliases);
    if (request.getOrCreate && aliases.length === 0) {
      throw new CairnError("invalid", "cannot get or create a run without an alias", {
        hint: "give the id all ranks share, such as the job's id, as an alias",
      });
    }
    const nowUs = this.#clock.nowUs();
    const forbidden = this.#captures.forbiddenIn(namespace);
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
      provenance: request.provenance && allowedProvenance(requireProvenance(request.provenance), forbidden),
      createdUs: nowUs,
      startedUs,
      endedUs: ENDED.has(status) ? nowUs : undefined,
      updatedUs: nowUs,
      deletedUs: undefined,
      creator: caller.principal.name,
      endedBy: ENDED.has(status) ? caller.principal.name : "",
      changedBy: "",
      deletedBy: "",
    };
    const made = await this.#store.createRun(run, { getOrCreate: request.getOrCreate }).catch((thrown) => {
      throw refusalFor(caller, thrown, run);
    });
    if (made.created) return { run, created: true, forbidden };
    if (!maySee(caller, { namespace, runId: made.run.id })) throw aliasTaken(aliases, namespace);
    return { run: await this.#whole(caller, made.run, heavy), created: false, forbidden };
  }

  /**
   * The one run a reference names, if the caller may do to it what the call declares. A large one is loaded once
   * `heavy` has reserved room: many of them at once need more memory than a server has.
   */
  async get(caller: Caller, ref: RunRef, heavy: BeginHeavy = AT_ONCE): Promise<Run> {
    // An alias may have many candidates, of which only one is needed whole.
    const one: RunRef = ref.by === "alias" ? { by: "id", id: (await this.getHead(caller, ref)).id } : ref;
    const found = await this.#store.findRuns(checkedRef(one), { light: true });
    return this.#whole(caller, await chooseRun(caller, ref, found, this.#store), heavy);
  }

  /** With the parts that the store left out. Not found where a move took the run out of sight, such as just before it was changed. */
  async #whole(caller: Caller, run: Run, heavy: BeginHeavy | "omit"): Promise<Run> {
    const { id } = run;
    const isSeen = ({ namespace }: Run) => maySee(caller, { namespace, runId: id });
    if (!isSeen(run)) throw missingRun(caller, { by: "id", id });
    if (run.leftOutBytes === undefined || heavy === "omit") return run;
    const signal = await heavy(run.leftOutBytes);
    const { runs } = await this.#store.getRuns([id], { bytesMax: limits.pageBytesMax }, signal);
    const [whole] = runs;
    // While this waited rights may have changed, and the run may be gone or moved.
    if (whole === undefined || !isSeen(whole)) throw missingRun(caller, { by: "id", id });
    return whole;
  }

  /** The same without params, tags, notes and provenance. */
  getHead(caller: Caller, ref: RunRef): Promise<Run> {
    return findRun(caller, ref, this.#store);
  }

  /**
   * The id and namespace of the run a reference names, for the calls that come thousands of times a
   * second: a run is looked up by id in the store only once. Concurrent calls for the same run share
   * one look-up, so that none overtakes another.
   */
  async whereIs(caller: Caller, ref: RunRef): Promise<{ id: string; namespace: string }> {
    const known = ref.by === "id" ? this.#located.get(ref.id) : undefined;
    // Only a look-up in the store refuses a caller: the run may have been moved.
    if (known !== undefined && ref.by === "id" && isAllowed(caller, { namespace: known, runId: ref.id })) {
      return { id: ref.id, namespace: known };
    }
    const moves = this.#moves;
    const key = JSON.stringify([ref, moves]);
    let locating = this.#locating.get(key);
    if (locating === undefined) {
      locating = this.#find(ref).finally(() => this.#locating.delete(key));
      this.#locating.set(key, locating);
    }
    // Callers share the result, but each has rights of its own.
    const run = await chooseRun(caller, ref, await locating, this.#store);
    if (this.#located.size >= LOCATED_MAX) this.#located.clear();
    if (this.#moves === moves) this.#located.set(run.id, run.namespace);
    return run;
  }

  /**
   * What is bound, closed or forbidden on a namespace moves with it, maybe in another process: the answer has places that fit
   * to what the caches know of that.
   */
  async #find(ref: RunRef): Promise<Run[]> {
    for (;;) {
      const moves = this.#namespaceMoves;
      const found = await this.#store.findRuns(checkedRef(ref), { omit: HEAVY_PARTS });
      // Also without a run: it must take as long as for one that is hidden.
      await this.#follower.catchUp();
      if (this.#namespaceMoves === moves) return found;
    }
  }

  /** For a write that the store has refused with RUN_MOVED: the next look-up reads the store. */
  forgetPlace(id: string): void {
    this.#moves++;
    this.#located.delete(id);
  }

  /** A namespace was moved with its runs. */
  forgetPlaces(): void {
    this.#forget(undefined);
  }

  #forget(changes: readonly JournalChange[] | undefined): void {
    this.#moves++;
    if (changes?.every(({ runId }) => runId !== "") === true) {
      for (const { runId } of changes) this.#located.delete(runId);
    } else {
      this.#namespaceMoves++;
      this.#located.clear();
    }
  }

  /** The id alone. */
  async locate(caller: Caller, ref: RunRef): Promise<string> {
    return (await this.whereIs(caller, ref)).id;
  }

  /** `entry` is its audit entry; `heavy` as in `create`. */
  async update(
    caller: Caller,
    ref: RunRef,
    change: RunChange,
    heavy: BeginHeavy | "omit" = AT_ONCE,
    entry: { action: string; facts?: Readonly<Record<string, string>> } = { action: "update-run" },
  ): Promise<Run> {
    const { id, namespace } = await this.getHead(caller, ref);
    const checked = allowedChange(checkedChange(change), this.#captures.forbiddenIn(namespace));
    const nowUs = this.#clock.nowUs();
    const audit = auditRecord(caller, nowUs, entry.action, id, { namespace, ...entry.facts });
    return this.#whole(caller, await this.#store.updateRun(id, checked, nowUs, audit), heavy);
  }

  async delete(caller: Caller, ref: RunRef, heavy: BeginHeavy = AT_ONCE): Promise<Run> {
    const { id, namespace } = await this.getHead(caller, ref);
    const nowUs = this.#clock.nowUs();
    const audit = auditRecord(caller, nowUs, "delete-run", id, { namespace });
    return this.#whole(caller, await this.#store.setDeleted(id, nowUs, audit), heavy);
  }

  async restore(caller: Caller, ref: RunRef, heavy: BeginHeavy = AT_ONCE): Promise<Run> {
    const { id, namespace } = await this.getHead(caller, ref);
    const audit = auditRecord(caller, this.#clock.nowUs(), "restore-run", id, { namespace });
    return this.#whole(caller, await this.#store.setDeleted(id, undefined, audit), heavy);
  }

  async purge(caller: Caller, ref: RunRef): Promise<{ points: number }> {
    const { id, namespace } = await this.getHead(caller, ref);
    const audit = auditRecord(caller, this.#clock.nowUs(), "purge-run", id, { namespace });
    const purged = await this.#store.purgeRun(id, audit);
    await this.#follower.catchUp();
    return purged;
  }

  async search(caller: Caller, request: SearchRuns): Promise<FoundRuns> {
    authorizeCall(caller);
    const nowUs = this.#clock.nowUs();
    const query = readQuery(request.query, { nowUs, me: caller.principal.name });
    const projection = parseColumns(request.columns);
    const asked = {
      query,
      readable: caller.rights.readable(),
      under: parseNamespace(request.namespace, { root: true }),
      trashed: request.trashed,
      offset: searchOffset(request.offset ?? 0),
      after: request.pageToken === "" ? undefined : request.pageToken,
      metrics: projection.metrics,
      nowUs,
    };
    const find = (limit: number) => this.#search.search({ ...asked, limit }, caller.signal);
    const size = pageSize(request.pageSize);
    const page = await fittingPage(this.#store, find, projection, size, caller.signal);
    const isSeen = ({ id: runId, namespace: at }: Run) => maySee(caller, { namespace: at, runId });
    const runs = toFoundRuns(page.found, page.stored.filter(isSeen), projection);
    return { runs, nextPageToken: page.found.next ?? "", totalCount: page.found.total };
  }

  /** Turns silent runs into lost ones; the server calls it now and then. Returns how many. */
  expireHeartbeats(): Promise<number> {
    return this.#store.expireHeartbeats(this.#clock.nowUs());
  }
}

function isAllowed(caller: Caller, scope: Scope): boolean {
  return maySee(caller, scope) && caller.rights.may(caller.permission, scope);
}

function searchOffset(asked: number): number {
  if (asked >= 0 && asked <= limits.searchOffsetMax) return asked;
  throw new CairnError("invalid", `cannot begin at row ${asked}: the most is ${limits.searchOffsetMax}`, {
    hint: "narrow the query",
  });
}

export function checkedChange(change: RunChange): RunChange {
  const checked: RunChange = { ...change };
  if (change.name !== undefined) requireText(change.name, limits.nameBytesMax, "run name");
  if (change.notes !== undefined) requireText(change.notes, limits.notesBytesMax, "notes");
  if (change.params !== undefined) checked.params = requireParams(change.params);
  if (change.tags !== undefined) checked.tags = requireTags(change.tags);
  if (change.addAliases !== undefined) checked.addAliases = requireAliases(change.addAliases);
  for (const part of [change.provenance, change.captured, change.addProvenance]) {
    if (part !== undefined) requireProvenance(part);
  }
  if (change.clearProvenance !== undefined) checked.clearProvenance = requireFields(change.clearProvenance);
  if (change.endedUs !== undefined) requireTime(change.endedUs, "end time");
  if (change.heartbeatSeconds !== undefined) requireHeartbeat(change.heartbeatSeconds);
  requireAtMost(change.removeParams?.length ?? 0, limits.paramsPerRunMax, "params to remove");
  requireAtMost(change.removeTags?.length ?? 0, limits.tagsPerRunMax, "tags to remove");
  return checked;
}

/** 0 removes a promise. */
function requireHeartbeat(seconds: number): void {
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= HEARTBEAT_SECONDS_MAX) return;
  throw new CairnError(
    "invalid",
    `cannot accept a heartbeat every "${seconds}" seconds: it is not 0 to ${HEARTBEAT_SECONDS_MAX}`,
  );
}
