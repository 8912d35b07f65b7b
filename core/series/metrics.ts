import { authorize, maySee, type Caller } from "../access/caller.ts";
import { CairnError, quote } from "../errors.ts";
import { limits } from "../limits.ts";
import { requireAtMost, requireKey, requireText } from "../model/check.ts";
import type { KeyDescription } from "../model/namespace.ts";
import { parseNamespace } from "../model/path.ts";
import type { RunRef } from "../model/run.ts";
import type { Labels } from "../model/series.ts";
import type { ListedSeries, PointStore, ReadSeries, ReadSeriesResult } from "../ports/point-store.ts";
import type { RunStore } from "../ports/run-store.ts";
import { compilePattern, globToRegex } from "../query/pattern.ts";
import { pageSize, type Runs } from "../runs/runs.ts";
import { KeysOfRuns, type RunKeys } from "./run-keys.ts";

export interface SelectSeries {
  run: RunRef;
  key: string;
  /** undefined for every label set. */
  labels: Labels | undefined;
}

export interface ReadRequest extends Omit<ReadSeries, "selectors" | "pointsMax"> {
  series: readonly SelectSeries[];
}

/** Reading series, and saying what their keys mean. */
export class Metrics {
  readonly #store: RunStore;
  readonly #points: PointStore;
  readonly #runs: Runs;

  constructor(parts: { store: RunStore; points: PointStore; runs: Runs }) {
    this.#store = parts.store;
    this.#points = parts.points;
    this.#runs = parts.runs;
  }

  async list(
    caller: Caller,
    request: { run: RunRef; glob: string; regex: string; pageSize: number; pageToken: string },
  ): Promise<ListedSeries> {
    if (request.glob !== "" && request.regex !== "") {
      throw new CairnError("invalid", "cannot list series by glob and regex at once", {
        hint: "give one of them",
      });
    }
    const run = await this.#runs.get(caller, request.run);
    return this.#points.listSeries({
      runId: run.id,
      pattern: patternOf(request.glob, request.regex),
      after: request.pageToken === "" ? undefined : request.pageToken,
      limit: pageSize(request.pageSize),
    });
  }

  /** Runs that are gone, or that the caller may not see, are left out: the others are wanted all the same. */
  async listRunKeys(caller: Caller, refs: readonly RunRef[], seriesPerRun: number): Promise<RunKeys> {
    requireAtMost(refs.length, limits.keyRunsMax, "runs whose keys are listed");
    if (seriesPerRun < 0 || seriesPerRun > limits.keySeriesPerRunMax) {
      throw new CairnError(
        "invalid",
        `cannot look at ${seriesPerRun} series of each run: give 1 to ${limits.keySeriesPerRunMax}, or 0`,
      );
    }
    const found = new KeysOfRuns(seriesPerRun === 0 ? limits.keySeriesPerRunMax : seriesPerRun);
    for (const ref of refs) {
      const runId = await this.#locateIfThere(caller, ref);
      if (runId !== undefined) await this.#addKeys(found, runId);
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

  async #addKeys(found: KeysOfRuns, runId: string): Promise<void> {
    found.begin(runId);
    let after: string | undefined;
    for (let room = found.room(); ; room = found.room()) {
      if (room === 0) return found.cut();
      const limit = Math.min(room, limits.pageSizeMax);
      const { series, next } = await this.#points.listSeries({ runId, pattern: undefined, after, limit });
      for (const info of series) found.add(info);
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
    if (from !== undefined && to !== undefined && from > to) {
      throw new CairnError("invalid", `cannot read from ${from} to ${to}: the range is empty`);
    }
    const ids = new Map<string, string>();
    const selectors = [];
    for (const { run, key, labels } of request.series) {
      requireKey(key, "metric key");
      const name = JSON.stringify(run);
      let runId = ids.get(name);
      if (runId === undefined) ids.set(name, (runId = await this.#runs.locate(caller, run)));
      selectors.push({ runId, key, labels });
    }
    return this.#points.readSeries({
      axis: request.axis,
      from,
      to,
      buckets,
      includeReplaced: request.includeReplaced,
      onlyReplaced: request.onlyReplaced,
      selectors,
      pointsMax: limits.readPointsMax,
    });
  }

  async describeKey(caller: Caller, description: KeyDescription): Promise<KeyDescription> {
    const namespace = parseNamespace(description.namespace);
    authorize(caller, { namespace });
    requireKey(description.key, "metric key");
    requireText(description.unit, limits.nameBytesMax, `unit of ${quote(description.key)}`);
    requireText(description.description, limits.descriptionBytesMax, "description");
    await this.#store.describeKey(description);
    return description;
  }

  async listKeys(caller: Caller, text: string): Promise<KeyDescription[]> {
    const namespace = parseNamespace(text);
    authorize(caller, { namespace });
    const keys = await this.#store.listKeys(namespace);
    // What holds here may have been said further up, where the caller may not look.
    return keys.filter((described) => maySee(caller, { namespace: described.namespace }));
  }
}

function patternOf(glob: string, regex: string): { regex: string } | undefined {
  if (glob === "" && regex === "") return undefined;
  const pattern = regex === "" ? globToRegex(glob) : regex;
  // Checked here, so that a bad one is refused before it travels.
  compilePattern(pattern, regex === "" ? `glob of ${quote(glob)}` : "regex");
  return { regex: pattern };
}
