import type { Clock } from "#base/clock.ts";
import { auditRecord } from "../access/audit/audit-record.ts";
import type { Caller } from "../access/caller.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { requireAtMost, requireKey } from "../types/check.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { OwnerRef } from "../types/host.ts";
import type { Labels } from "../types/series.ts";
import type {
  Host,
  ListedLabels,
  PointStore,
  ReadBounds,
  ReadSeries,
  ReadSeriesResult,
  SelectedSeries,
  SeriesOwner,
  SeriesSelection,
  SeriesSelector,
} from "../ports/point-store.ts";
import { compilePattern } from "#lang/query/pattern.ts";
import { globToRegex } from "#lang/query/wildcards.ts";
import { pageSize } from "../lists/page-size.ts";
import type { Runs } from "../runs/runs.ts";
import { requireMatchers, type Matcher } from "../types/matchers.ts";
import { readBounds, type AnswerForm } from "./read-budget.ts";
import { KeysOfRuns, type RunKeys } from "./run-keys.ts";
import { listHosts } from "./hosts.ts";
import { hostOf, placeOf, scopeOf, type Among } from "./scope.ts";

export type SelectSeries = OwnerRef & SelectParts;

interface SelectParts {
  /** undefined for every key; only with matchers. */
  key: string | undefined;
  /** undefined for every label set. */
  labels: Labels | undefined;
  matchers?: readonly Matcher[];
}

export interface Selecting {
  among: Among;
  matchers: readonly Matcher[];
}

export interface ListRequest extends Selecting {
  glob: string;
  regex: string;
  pageSize: number;
  pageToken: string;
}

export type DeleteRequest = OwnerRef & DeleteParts;

interface DeleteParts {
  matchers: readonly Matcher[];
  axis: "step" | "time";
  from: number | undefined;
  to: number | undefined;
}

export interface LabelsRequest extends Selecting {
  /** undefined for the names of labels, "" for keys. */
  label: string | undefined;
  pageSize: number;
  pageToken: string;
}

export interface ReadRequest extends Omit<ReadSeries, "selectors" | keyof ReadBounds> {
  series: readonly SelectSeries[];
  form: AnswerForm;
}

/** Series that the store reads before other work has its turn. */
const KEY_SERIES_AT_ONCE = 2_000;

/** Work of the store before other work has its turn. */
const DELETED_AT_ONCE = { pointsMax: 2_000_000, seriesMax: 1_000 };

/** Reads and deletes series. */
export class Metrics {
  readonly #points: PointStore;
  readonly #runs: Runs;
  readonly #clock: Clock;

  constructor(parts: { points: PointStore; runs: Runs; clock: Clock }) {
    this.#clock = parts.clock;
    this.#points = parts.points;
    this.#runs = parts.runs;
  }

  async list(caller: Caller, request: ListRequest): Promise<SelectedSeries> {
    if (request.glob !== "" && request.regex !== "") {
      throw new CairnError("invalid", "cannot list series by glob and regex at once", {
        hint: "give one of them",
      });
    }
    const asked = {
      ...(await this.#select(caller, request)),
      pattern: patternOf(request.glob, request.regex),
      after: request.pageToken === "" ? undefined : request.pageToken,
      limit: pageSize(request.pageSize),
      bytesMax: limits.pageBytesMax,
      isCounted: true,
    };
    return this.#points.selectSeries(asked, caller.signal);
  }

  /** Names of labels, or values of one of them ("" for the key), of the selected series. */
  async listLabels(
    caller: Caller,
    request: LabelsRequest,
  ): Promise<Omit<ListedLabels, "more"> & { nextPageToken: string }> {
    const { label, pageToken } = request;
    if (label !== undefined && label !== "") requireKey(label, "label name", limits.labelBytesMax);
    const asked = {
      ...(await this.#select(caller, request)),
      label,
      after: pageToken === "" ? undefined : textOfToken(pageToken),
      limit: pageSize(request.pageSize),
    };
    const { texts, more, truncated } = await this.#points.listLabels(asked, caller.signal);
    return { texts, truncated, nextPageToken: more ? TOKEN_MARK + texts.at(-1)!.text : "" };
  }

  async #select(caller: Caller, { among, matchers }: Selecting): Promise<SeriesSelection> {
    return {
      scope: await scopeOf(caller, among, this.#runs),
      matchers: requireMatchers(matchers),
      lookMax: limits.selectLookMax,
    };
  }

  /** Runs to the end, also when the caller disconnects: part after part, each audited with what was deleted. */
  async delete(caller: Caller, request: DeleteRequest): Promise<{ series: number; points: number }> {
    const { axis, from, to } = request;
    if (request.matchers.length === 0) {
      throw new CairnError("invalid", "cannot delete series without a matcher", {
        hint: 'give at least one; {"op": "MATCH_OP_REGEX", "value": ".*"} selects every series',
      });
    }
    requireRange(from, to, "delete");
    const matchers = requireMatchers(request.matchers);
    const place = await placeOf(caller, request, this.#runs);
    if (place === undefined) return { series: 0, points: 0 };
    const { owner, target, where } = place;
    const range = {
      ...(from !== undefined && { from: String(from) }),
      ...(to !== undefined && { to: String(to) }),
    };
    const facts = { ...where, matchers: JSON.stringify(matchers), axis, ...range };
    const audit = auditRecord(caller, this.#clock.nowUs(), "delete-series", target, facts);
    const deleted = { series: 0, points: 0 };
    let after: string | undefined;
    do {
      const asked = { owner, matchers, axis, from, to, after, ...DELETED_AT_ONCE };
      const part = await this.#points.deleteSeries(asked, audit);
      deleted.series += part.series;
      deleted.points += part.points;
      after = part.next;
    } while (after !== undefined);
    return deleted;
  }

  listHosts(
    caller: Caller,
    request: { under: string; pageSize: number; pageToken: string },
  ): Promise<{ hosts: Host[]; nextPageToken: string }> {
    return listHosts(caller, this.#points, request);
  }

  /**
   * Runs that are missing, or that the caller may not see, are left out: the others are still useful. One
   * that is named twice is included once.
   */
  async listRunKeys(caller: Caller, refs: readonly RunRef[], seriesPerRun: number): Promise<RunKeys> {
    requireAtMost(refs.length, limits.keyRunsMax, "runs whose keys are listed");
    if (seriesPerRun < 0 || seriesPerRun > limits.keySeriesPerRunMax) {
      throw new CairnError(
        "invalid",
        `cannot read ${seriesPerRun} series of each run: give 1 to ${limits.keySeriesPerRunMax}, or 0`,
      );
    }
    const found = new KeysOfRuns(seriesPerRun === 0 ? limits.keySeriesPerRunMax : seriesPerRun);
    const asked = new Map(refs.map((ref) => [JSON.stringify(ref), ref]));
    const seen = new Set<string>();
    for (const ref of asked.values()) {
      const runId = await this.#locateIfThere(caller, ref);
      if (runId === undefined || seen.has(runId)) continue;
      seen.add(runId);
      await this.#addKeys(found, runId, caller.signal);
    }
    return found.all();
  }

  async #locateIfThere(caller: Caller, ref: RunRef): Promise<string | undefined> {
    try {
      return await this.#runs.locate(caller, ref);
    } catch (thrown) {
      if (thrown instanceof CairnError && thrown.code === "not-found") return undefined;
      throw thrown;
    }
  }

  async #addKeys(found: KeysOfRuns, runId: string, signal: AbortSignal | undefined): Promise<void> {
    found.begin(runId);
    let after: string | undefined;
    for (let room = found.room(); ; room = found.room()) {
      if (room === 0) return found.cut();
      const limit = Math.min(room, KEY_SERIES_AT_ONCE);
      const { keys, next } = await this.#points.listMetricKeys({ runId, after, limit }, signal);
      for (const key of keys) found.add(key);
      if (next === undefined) return;
      after = next;
    }
  }

  async read(caller: Caller, request: ReadRequest): Promise<ReadSeriesResult> {
    requireAtMost(request.series.length, limits.readSeriesMax, "series in one read");
    const { from, to, buckets } = request;
    if (!Number.isInteger(buckets) || buckets < 0 || buckets > limits.bucketsMax) {
      throw new CairnError(
        "invalid",
        `cannot read ${buckets} buckets: give 0 for every point, or 1 to ${limits.bucketsMax}`,
      );
    }
    requireRange(from, to, "read");
    const ids = new Map<string, string>();
    // A series that is named twice is read once, where it was named first.
    const selectors = new Map<string, SeriesSelector>();
    const patterns = new Set<string>();
    for (const { run, host, key, labels, matchers } of request.series) {
      if (key !== undefined || matchers === undefined) requireKey(key ?? "", "metric key");
      let owner: SeriesOwner | undefined;
      if (host !== undefined) owner = hostOf(caller, host);
      else {
        const ref = JSON.stringify(run);
        let runId = ids.get(ref);
        if (runId === undefined) ids.set(ref, (runId = await this.#runs.locate(caller, run)));
        owner = { runId };
      }
      const name = JSON.stringify([host ?? owner?.runId, key ?? null, labels ?? null, matchers ?? null]);
      if (selectors.has(name)) continue;
      const matching = matchers && { matchers: requireMatchers(matchers, patterns) };
      if (owner !== undefined) selectors.set(name, { ...owner, key, labels, ...matching });
    }
    const asked = {
      axis: request.axis,
      from,
      to,
      buckets,
      includeReplaced: request.includeReplaced,
      onlyReplaced: request.onlyReplaced,
      selectors: [...selectors.values()],
      ...readBounds(request.form),
    };
    return this.#points.readSeries(asked, caller.signal);
  }
}

function requireRange(from: number | undefined, to: number | undefined, verb: string): void {
  if (from === undefined || to === undefined || from <= to) return;
  throw new CairnError("invalid", `cannot ${verb} from ${from} to ${to}: the range is empty`);
}

/** A text may be empty, which as a token would mean the first page. */
const TOKEN_MARK = "=";

function textOfToken(token: string): string {
  if (token.startsWith(TOKEN_MARK)) return token.slice(TOKEN_MARK.length);
  throw new CairnError("invalid", `cannot read page token ${quote(token)}`, { reason: "PAGE_TOKEN" });
}

function patternOf(glob: string, regex: string): { regex: string } | undefined {
  if (glob === "" && regex === "") return undefined;
  const pattern = regex === "" ? globToRegex(glob) : regex;
  // Checked here, so that a bad one is refused before it is sent on.
  compilePattern(pattern, regex === "" ? `glob of ${quote(glob)}` : "regex");
  return { regex: pattern };
}
