import type { Clock } from "#base/clock.ts";
import { inOrder } from "#base/in-order.ts";
import { authorizeCall, maySee, type Caller } from "../access/caller.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { requireAtMost, requireKey, requireText } from "../types/check.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { GroupColumns, Grid, PointStore, ReadGroups } from "../ports/point-store.ts";
import type { RunSearch } from "../ports/run-search.ts";
import type { RunStore } from "../ports/run-store.ts";
import type { Query } from "#lang/query/ast.ts";
import { readQuery } from "#lang/query/check.ts";
import { readRuns } from "../lists/read-runs.ts";
import type { Runs } from "../runs/runs.ts";
import { Grouping, parseGroupColumns, unneeded, type RunGroup } from "./group-by.ts";
import { groupNumbersMax, type AnswerForm } from "./read-budget.ts";

export interface GivenGroup {
  name: string;
  runs: readonly RunRef[];
  /** When each of them began; empty or absent for times as they are. */
  startsUs?: readonly number[];
}

export interface GroupRequest extends Omit<
  ReadGroups,
  "groups" | "startsUs" | "meansMax" | "numbersMax" | "seriesMax"
> {
  /** Either these, or the runs that match the query, grouped by columns. */
  groups: readonly GivenGroup[];
  query: string | Query;
  namespace: string;
  groupBy: readonly string[];
  /** 0 for the default. */
  buckets: number;
  form: AnswerForm;
}

export interface GroupResult {
  groups: (RunGroup & GroupColumns)[];
  grid: Grid | undefined;
}

interface LocatedGroup extends RunGroup {
  startsUs: readonly number[];
}

/** Runs whose params are read at a time: all of them at once would keep the serving thread busy. */
const RUNS_AT_ONCE = 500;

/** One metric over groups of runs. */
export class Groups {
  readonly #store: RunStore;
  readonly #points: PointStore;
  readonly #search: RunSearch;
  readonly #runs: Runs;
  readonly #clock: Clock;

  constructor(parts: { store: RunStore; points: PointStore; search: RunSearch; runs: Runs; clock: Clock }) {
    this.#store = parts.store;
    this.#points = parts.points;
    this.#search = parts.search;
    this.#runs = parts.runs;
    this.#clock = parts.clock;
  }

  async read(caller: Caller, request: GroupRequest): Promise<GroupResult> {
    authorizeCall(caller);
    const { key, labels, axis, from, to, quantiles } = request;
    requireKey(key, "metric key");
    const buckets = checkedBuckets(request.buckets);
    requireQuantiles(quantiles);
    if (from !== undefined && to !== undefined && from > to) {
      throw new CairnError("invalid", `cannot read groups from ${from} to ${to}: the range is empty`);
    }
    requireStarts(request);
    const groups = await this.#group(caller, request);
    const isSinceStart = groups.some(({ startsUs }) => startsUs.length > 0);
    const asked = {
      groups: groups.map(({ runIds }) => runIds),
      startsUs: isSinceStart ? groups.map(({ startsUs }) => startsUs) : undefined,
      key,
      labels,
      axis,
      from,
      to,
      buckets,
      quantiles,
      meansMax: limits.groupNumbersMax,
      numbersMax: groupNumbersMax(request.form),
      seriesMax: limits.groupSeriesMax,
    };
    const read = await this.#points.readGroups(asked, caller.signal);
    return {
      groups: groups.map(({ name, values, runIds }, i) =>
        Object.assign({ name, values, runIds }, read.groups[i]!),
      ),
      grid: read.grid,
    };
  }

  async #group(caller: Caller, request: GroupRequest): Promise<LocatedGroup[]> {
    const { groups, query, namespace, groupBy } = request;
    if (groups.length === 0) {
      const found = await this.#groupByQuery(caller, request);
      return found.map((group) => Object.assign(group, { startsUs: [] }));
    }
    if (query !== "" || namespace !== "" || groupBy.length > 0) {
      throw new CairnError("invalid", "cannot read groups that are given and groups by a query at once", {
        hint: "give either groups, or query, namespace and group_by",
      });
    }
    return this.#locateGroups(caller, groups);
  }

  /** Throws `not-found` for a run the caller may not see, as for a missing one. */
  async #locateGroups(caller: Caller, groups: readonly GivenGroup[]): Promise<LocatedGroup[]> {
    requireAtMost(groups.length, limits.groupsMax, "groups");
    requireAtMost(
      groups.reduce((sum, { runs }) => sum + runs.length, 0),
      limits.groupRunsMax,
      "runs in groups",
    );
    const located: LocatedGroup[] = [];
    for (const { name, runs, startsUs = [] } of groups) {
      requireText(name, limits.nameBytesMax, "group name");
      // A run that is named twice is included once, with its first start.
      const starts = new Map<string, number>();
      for (let at = 0; at < runs.length; at += RUNS_AT_ONCE) {
        const some = runs.slice(at, at + RUNS_AT_ONCE);
        // A known run is not looked up in the store, so a hidden one is refused sooner than a missing one.
        const ids = await inOrder(some.map((ref) => this.#runs.locate(caller, ref)));
        for (const [i, id] of ids.entries()) if (!starts.has(id)) starts.set(id, startsUs[at + i] ?? 0);
      }
      const own = startsUs.length === 0 ? [] : [...starts.values()];
      located.push({ name, values: [], runIds: [...starts.keys()], startsUs: own });
    }
    return located;
  }

  async #groupByQuery(caller: Caller, request: GroupRequest): Promise<RunGroup[]> {
    const nowUs = this.#clock.nowUs();
    const columns = parseGroupColumns(request.groupBy);
    const query = readQuery(request.query, { nowUs, me: caller.principal.name });
    const found = await this.#search.search(
      {
        query,
        readable: caller.rights.readable(),
        under: parseNamespace(request.namespace, { root: true }),
        trashed: false,
        limit: limits.groupRunsMax,
        after: undefined,
        metrics: [],
        nowUs,
      },
      caller.signal,
    );
    requireAtMost(found.total, limits.groupRunsMax, "runs in groups");
    const grouping = new Grouping(columns);
    for (let at = 0; at < found.ids.length; at += RUNS_AT_ONCE) {
      const ids = found.ids.slice(at, at + RUNS_AT_ONCE);
      for await (const run of readRuns(this.#store, ids, unneeded(columns), caller.signal)) {
        // It may have been moved out of sight since it was found.
        if (maySee(caller, { namespace: run.namespace, runId: run.id })) grouping.add(run);
      }
    }
    return grouping.finish();
  }
}

function checkedBuckets(asked: number): number {
  if (Number.isInteger(asked) && asked >= 0 && asked <= limits.bucketsMax) {
    return asked === 0 ? limits.groupBucketsDefault : asked;
  }
  throw new CairnError(
    "invalid",
    `cannot read groups in ${asked} buckets: give 1 to ${limits.bucketsMax}, or 0 for ${limits.groupBucketsDefault}`,
  );
}

function requireStarts({ groups, axis }: GroupRequest): void {
  if (groups.every(({ startsUs = [] }) => startsUs.length === 0)) return;
  if (axis !== "time") {
    throw new CairnError("invalid", "cannot count steps from the start of a run", {
      hint: "set the axis to time, or leave starts_us out",
    });
  }
  for (const { name, runs, startsUs = [] } of groups) {
    if (runs.length === startsUs.length) continue;
    const counts = `${runs.length} runs with ${startsUs.length} starts`;
    throw new CairnError("invalid", `cannot read group ${quote(name)}: ${counts}`, {
      hint: "give every run of every group its start, or none",
    });
  }
}

function requireQuantiles(quantiles: readonly number[]): void {
  requireAtMost(quantiles.length, limits.groupQuantilesMax, "quantiles");
  for (const quantile of quantiles) {
    if (quantile >= 0 && quantile <= 1) continue;
    throw new CairnError("invalid", `cannot read quantile "${quantile}": it is not 0 to 1`);
  }
}
