import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { RunRef } from "#lang/run-ref.ts";
import { authorizeCall, type Caller } from "../access/caller.ts";
import type { MetricKeys } from "../objective/metric-keys.ts";
import type { HeldObjective } from "../objective/objectives.ts";
import type { PointStore } from "../ports/point-store.ts";
import { AT_ONCE, type BeginHeavy } from "../quota/heavy-answer.ts";
import type { Runs } from "../runs/runs.ts";
import { requireAtMost } from "../types/check.ts";
import type { Run } from "../types/run.ts";
import { sizeOf } from "../types/size.ts";
import { MetricRows } from "./metric-rows.ts";
import { COMPARED_STATS, type ComparedMetric, type ComparedStat } from "./metrics.ts";
import { compareParts, type ComparedPart } from "./parts.ts";
import { comparePatches, type PatchDifference } from "./patches.ts";
import { differs } from "./row.ts";
import { SideBySide, type SeriesBounds } from "./side-by-side.ts";

export interface CompareRequest {
  /** The first is the baseline. One that is named twice is included once. */
  runs: readonly RunRef[];
  /** Of COMPARED_STATS; empty for the best. */
  stats: readonly string[];
  /** Leave out rows in which all runs are the same. */
  onlyDifferent: boolean;
  withPatches: boolean;
}

export interface Comparison {
  /** Without params, tags, notes and provenance. */
  runs: readonly Run[];
  parts: readonly (ComparedPart & { equalRows: number })[];
  metrics: readonly ComparedMetric[];
  /** Metrics that were left out because they are the same in all runs. */
  equalMetrics: number;
  /** There are more metrics. Those that are here are compared with all series of their name that the runs have. */
  metricsTruncated: boolean;
  /** Of the baseline's namespace. */
  objective: HeldObjective | undefined;
  /** One per run after the baseline; empty unless they were asked for. */
  patches: readonly PatchDifference[];
  /** Places in the request of runs that are missing or hidden. */
  missing: readonly number[];
}

/** Differences between runs. */
export class Comparisons {
  readonly #runs: Runs;
  readonly #points: PointStore;
  readonly #metricKeys: MetricKeys;

  constructor(parts: { runs: Runs; points: PointStore; metricKeys: MetricKeys }) {
    this.#runs = parts.runs;
    this.#points = parts.points;
    this.#metricKeys = parts.metricKeys;
  }

  /** Throws `exhausted` when the runs are too large to be compared together. `heavy` as in Runs.get. */
  async compare(
    caller: Caller,
    request: CompareRequest,
    heavy: BeginHeavy = AT_ONCE,
    bounds?: SeriesBounds,
  ): Promise<Comparison> {
    authorizeCall(caller);
    requireAtMost(request.runs.length, limits.comparedRunsMax, "runs to compare");
    const stats = requireStats(request.stats);
    const { runs, missing } = await this.#load(caller, request.runs, heavy);
    const [baseline] = runs;
    const meaning = await this.#metricKeys.meaningIn(caller, baseline?.namespace ?? "");
    const { objective } = meaning;
    const metrics = new MetricRows(meaning, stats, request.onlyDifferent);
    await this.#readMetrics(metrics, runs, objective, caller.signal, bounds);
    const comparison: Comparison = {
      runs: runs.map(withoutHeavyParts),
      parts: compareParts(runs).map((part) => pickRows(part, request.onlyDifferent)),
      metrics: metrics.sorted(),
      equalMetrics: metrics.equalCount,
      metricsTruncated: metrics.isCut,
      objective,
      patches: request.withPatches
        ? runs.slice(1).map((run) => comparePatches(patchOf(baseline!), patchOf(run)))
        : [],
      missing,
    };
    requireFitting(comparison);
    return comparison;
  }

  /** In the order asked for, each once. */
  async #load(
    caller: Caller,
    refs: readonly RunRef[],
    heavy: BeginHeavy,
  ): Promise<{ runs: Run[]; missing: number[] }> {
    const runs = new Map<string, Run>();
    const missing: number[] = [];
    let left: number = limits.comparedBytesMax;
    for (const [place, ref] of refs.entries()) {
      const run = await this.#find(caller, ref, heavy);
      if (run === undefined) missing.push(place);
      else if (!runs.has(run.id)) {
        left -= sizeOf(run);
        if (left < 0) throw tooLarge(`together they have more than ${limits.comparedBytesMax} bytes`);
        runs.set(run.id, run);
      }
    }
    return { runs: [...runs.values()], missing };
  }

  async #find(caller: Caller, ref: RunRef, heavy: BeginHeavy): Promise<Run | undefined> {
    try {
      return await this.#runs.get(caller, ref, heavy);
    } catch (thrown) {
      if (thrown instanceof CairnError && thrown.code === "not-found") return undefined;
      throw thrown;
    }
  }

  async #readMetrics(
    rows: MetricRows,
    runs: readonly Run[],
    objective: HeldObjective | undefined,
    signal: AbortSignal | undefined,
    bounds: SeriesBounds | undefined,
  ): Promise<void> {
    const ids = runs.map(({ id }) => id);
    const all = new SideBySide(this.#points, ids, [], bounds);
    for await (const part of all.parts(signal)) rows.add(part);
    if (!all.isCut) return;
    rows.cut();
    if (objective === undefined) return;
    // Whatever else is left out, the objective is not.
    rows.forgetObjective();
    const ofKey = [{ label: "", op: "=", value: objective.metric }] as const;
    const ofObjective = new SideBySide(this.#points, ids, ofKey);
    for await (const part of ofObjective.parts(signal)) rows.add(part);
  }
}

function requireStats(asked: readonly string[]): ComparedStat[] {
  if (asked.length === 0) return ["best"];
  return asked.map((word) => {
    const stat = COMPARED_STATS.find((known) => known === word);
    if (stat !== undefined) return stat;
    throw new CairnError(
      "invalid",
      `cannot compare by ${quote(word)}: statistics are ${COMPARED_STATS.join(", ")}`,
    );
  });
}

function pickRows(part: ComparedPart, onlyDifferent: boolean): ComparedPart & { equalRows: number } {
  const rows = onlyDifferent ? part.rows.filter(differs) : part.rows;
  return { ...part, rows, equalRows: part.rows.length - rows.length };
}

function withoutHeavyParts(run: Run): Run {
  return { ...run, params: new Map(), tags: new Map(), notes: "", provenance: undefined };
}

function patchOf({ provenance }: Run): string {
  return provenance?.code?.dirtyPatch ?? "";
}

function requireFitting(comparison: Comparison): void {
  if (sizeOf(comparison) > limits.pageBytesMax) {
    throw tooLarge(`the answer has more than ${limits.pageBytesMax} bytes`);
  }
}

function tooLarge(cause: string): CairnError {
  return new CairnError("exhausted", `cannot compare these runs: ${cause}`, {
    reason: "LIMIT_EXCEEDED",
    hint: "compare fewer runs, or ask only for what differs",
  });
}
