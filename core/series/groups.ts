import type { Clock } from "#base/clock.ts";
import { authorizeCall, type Caller } from "../access/caller.ts";
import { CairnError } from "../errors.ts";
import { limits } from "../limits.ts";
import { requireAtMost, requireKey, requireText } from "../model/check.ts";
import { parseNamespace } from "../model/path.ts";
import type { RunRef } from "../model/run.ts";
import type { GroupColumns, Grid, PointStore, ReadGroups } from "../ports/point-store.ts";
import type { RunSearch } from "../ports/run-search.ts";
import type { RunStore } from "../ports/run-store.ts";
import { parseQuery } from "../query/parser.ts";
import type { Runs } from "../runs/runs.ts";
import { Grouping, parseGroupColumns, unneeded, type RunGroup } from "./group-by.ts";

export interface GroupRequest extends Omit<ReadGroups, "groups" | "numbersMax"> {
  /** Either these, or the runs that match the query, grouped by columns. */
  groups: readonly { name: string; runs: readonly RunRef[] }[];
  query: string;
  namespace: string;
  groupBy: readonly string[];
  /** 0 for the default. */
  buckets: number;
}

export interface GroupResult {
  groups: (RunGroup & GroupColumns)[];
  grid: Grid | undefined;
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
    const groups = await this.#group(caller, request);
    const read = await this.#points.readGroups({
      groups: groups.map(({ runIds }) => runIds),
      key,
      labels,
      axis,
      from,
      to,
      buckets,
      quantiles,
      numbersMax: limits.groupNumbersMax,
    });
    return {
      groups: groups.map((group, i) => Object.assign(group, read.groups[i]!)),
      grid: read.grid,
    };
  }

  #group(caller: Caller, request: GroupRequest): Promise<RunGroup[]> {
    const { groups, query, namespace, groupBy } = request;
    if (groups.length === 0) return this.#groupByQuery(caller, request);
    if (query !== "" || namespace !== "" || groupBy.length > 0) {
      throw new CairnError("invalid", "cannot read groups that are given and groups by a query at once", {
        hint: "give either groups, or query, namespace and group_by",
      });
    }
    return this.#locateGroups(caller, groups);
  }

  /** Throws `not-found` for a run the caller may not see, as for one that is not there. */
  async #locateGroups(caller: Caller, groups: GroupRequest["groups"]): Promise<RunGroup[]> {
    requireAtMost(groups.length, limits.groupsMax, "groups");
    requireAtMost(
      groups.reduce((sum, { runs }) => sum + runs.length, 0),
      limits.groupRunsMax,
      "runs in groups",
    );
    const located: RunGroup[] = [];
    for (const { name, runs } of groups) {
      requireText(name, limits.nameBytesMax, "group name");
      const ids = new Set<string>();
      for (let at = 0; at < runs.length; at += RUNS_AT_ONCE) {
        const some = runs.slice(at, at + RUNS_AT_ONCE);
        for (const id of await Promise.all(some.map((ref) => this.#runs.locate(caller, ref)))) ids.add(id);
      }
      located.push({ name, values: [], runIds: [...ids] });
    }
    return located;
  }

  async #groupByQuery(caller: Caller, request: GroupRequest): Promise<RunGroup[]> {
    const nowUs = this.#clock.nowUs();
    const columns = parseGroupColumns(request.groupBy);
    const query = parseQuery(request.query, { nowUs });
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
      await this.#store.publish(),
    );
    requireAtMost(found.total, limits.groupRunsMax, "runs in groups");
    const grouping = new Grouping(columns);
    for (let at = 0; at < found.ids.length; at += RUNS_AT_ONCE) {
      const ids = found.ids.slice(at, at + RUNS_AT_ONCE);
      for (const run of await this.#store.getRuns(ids, unneeded(columns))) grouping.add(run);
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

function requireQuantiles(quantiles: readonly number[]): void {
  requireAtMost(quantiles.length, limits.groupQuantilesMax, "quantiles");
  for (const quantile of quantiles) {
    if (quantile >= 0 && quantile <= 1) continue;
    throw new CairnError("invalid", `cannot read quantile "${quantile}": it is not 0 to 1`);
  }
}
