import { NumberColumns } from "#base/codec/block.ts";
import { CairnError } from "#core/errors.ts";
import type { Points } from "#core/model/series.ts";
import type { ExactData, Grid, ReadSeries, ReadSeriesResult, SeriesData } from "#core/ports/point-store.ts";
import { Buckets, gridOver } from "#core/series/buckets.ts";
import {
  asNumbers,
  markReplaced,
  replacementThresholds,
  type ReplacementThreshold,
} from "#core/series/state.ts";
import type { SeriesEntry } from "./catalog.ts";
import { chunksIn, openChunk, type ChunkRange } from "./chunks.ts";
import type { Db } from "./db.ts";
import { labelsFromText } from "./labels.ts";
import { joinPoints, pickPoints } from "./points.ts";
import type { Tail } from "./tail.ts";

interface Selected {
  runId: string;
  /** Current to the last row of the tail. */
  entry: SeriesEntry;
}

/** A run of points as stored, with the ordinal of its first. */
interface Piece {
  points: Points;
  firstOrdinal: number;
}

export function readAll(
  db: Db,
  tail: Tail,
  selected: readonly Selected[],
  request: ReadSeries,
): ReadSeriesResult {
  const source = { db, tail, request };
  const budget = { left: request.pointsMax };
  // Exact data is wanted, or unavoidable (texts), or no longer than the envelope would be.
  const exact = selected.map(({ entry }) => {
    const short = entry.state.total <= request.buckets;
    return request.buckets === 0 || entry.state.kind === "text" || short
      ? readExact(source, entry, budget)
      : undefined;
  });
  const rest = selected.filter((_, i) => exact[i] === undefined).map(({ entry }) => entry);
  const grid = gridFor(rest, request);
  const series: SeriesData[] = selected.map(({ runId, entry }, i) => {
    const read = exact[i] ?? readEnvelope(source, entry, grid!, budget);
    return {
      runId,
      key: entry.key,
      labels: labelsFromText(entry.labels),
      kind: entry.state.kind,
      ...read,
    };
  });
  return { series, grid: series.some(({ data }) => data.form === "envelope") ? grid : undefined };
}

interface Source {
  db: Db;
  tail: Tail;
  request: ReadSeries;
}

/** Pieces that may hold points of the range, in order of arrival. */
function* pieces({ db, tail, request }: Source, entry: SeriesEntry, wantTimes: boolean): Generator<Piece> {
  const { axis, from, to } = request;
  const range: ChunkRange | undefined =
    from === undefined && to === undefined
      ? undefined
      : { axis, from: from ?? -Infinity, to: to ?? Infinity };
  const want = { steps: true, times: wantTimes || axis === "time", values: true };
  for (const chunk of chunksIn(db, entry.id, range)) {
    yield { points: openChunk(entry, chunk, want), firstOrdinal: chunk.firstOrdinal };
  }
  const logged = tail.numbers(entry.id, entry.foldedPos, new NumberColumns());
  const blocks =
    logged === undefined
      ? [...tail.blocks(entry.id, entry.foldedPos)].map((block) => block.points)
      : [logged];
  let firstOrdinal = entry.state.total;
  for (const points of blocks) firstOrdinal -= points.count;
  for (const points of blocks) {
    yield { points, firstOrdinal };
    firstOrdinal += points.count;
  }
}

function readExact(
  source: Source,
  entry: SeriesEntry,
  budget: { left: number },
): { pointCount: number; data: ExactData } {
  const { request } = source;
  const thresholds = replacementThresholds(entry.state);
  const { from, to } = request;
  // Without a range the count is known: refuse before the work, not after.
  if (from === undefined && to === undefined) requireBudget(budget, entry.state.summary.count, request);
  const read = [...pieces(source, entry, true)];
  const points = joinPoints(
    read.map((piece) => piece.points),
    entry.state.kind,
  );
  const replaced = joinMarks(read, thresholds, points.count);
  const order = orderedPlaces(points, request, request.includeReplaced ? undefined : replaced);
  const picked = order === undefined ? points : pickPoints(points, order);
  spend(budget, picked.count, request);
  return {
    pointCount: picked.count,
    data: {
      form: "exact",
      points: picked,
      replaced: request.includeReplaced ? marksOf(replaced, order, picked.count) : undefined,
    },
  };
}

function joinMarks(
  read: readonly Piece[],
  thresholds: readonly ReplacementThreshold[],
  count: number,
): Uint8Array | undefined {
  if (thresholds.length === 0) return undefined;
  const joined = new Uint8Array(count);
  let at = 0;
  for (const { points, firstOrdinal } of read) {
    const marks = markReplaced(points, firstOrdinal, thresholds);
    if (marks !== undefined) joined.set(marks, at);
    at += points.count;
  }
  return joined;
}

function marksOf(
  replaced: Uint8Array | undefined,
  order: Uint32Array | undefined,
  count: number,
): Uint8Array {
  if (replaced === undefined) return new Uint8Array(count);
  return order === undefined ? replaced : Uint8Array.from(order, (place) => replaced[place]!);
}

/** Places of the wanted points in order of the axis, then of arrival; undefined when that is all as it stands. */
function orderedPlaces(
  points: Points,
  request: ReadSeries,
  skip: Uint8Array | undefined,
): Uint32Array | undefined {
  const axis = request.axis === "step" ? points.steps : points.times;
  const from = request.from ?? -Infinity;
  const to = request.to ?? Infinity;
  const open = request.from === undefined && request.to === undefined;
  if (axis === undefined && skip === undefined) return open ? undefined : new Uint32Array();
  if (skip === undefined && isOrdered(axis!, from, to)) return undefined;
  const places = new Uint32Array(points.count);
  let wanted = 0;
  let sorted = true;
  let last = -Infinity;
  for (let i = 0; i < points.count; i++) {
    const at = axis === undefined ? NaN : axis[i]!;
    if (skip?.[i] === 1 || !(open || (at >= from && at <= to))) continue;
    places[wanted++] = i;
    if (at >= last) last = at;
    else sorted = false;
  }
  const kept = places.subarray(0, wanted);
  // Ties are decided by the place, that is by arrival. Points off the axis come last.
  if (!sorted && axis !== undefined) kept.sort((a, b) => compare(axis[a]!, axis[b]!) || a - b);
  return kept;
}

/** The common case: everything is in the range and in order. */
function isOrdered(axis: Float64Array, from: number, to: number): boolean {
  let last = from;
  for (const at of axis) {
    if (!(at >= last)) return false;
    last = at;
  }
  return last <= to;
}

function compare(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return a === b ? 0 : Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

/** One grid for all, over what they cover inside the range. */
function gridFor(entries: readonly SeriesEntry[], request: ReadSeries): Grid | undefined {
  if (entries.length === 0) return undefined;
  let low = Infinity;
  let high = -Infinity;
  for (const { state } of entries) {
    const [first, last] =
      request.axis === "step" ? [state.stepMin, state.stepMax] : [state.timeMin, state.timeMax];
    if (first < low) low = first;
    if (last > high) high = last;
  }
  low = Math.max(low, request.from ?? -Infinity);
  high = Math.min(high, request.to ?? Infinity);
  return low <= high ? gridOver(low, high, request.buckets) : { start: 0, width: 1 };
}

function readEnvelope(
  source: Source,
  entry: SeriesEntry,
  grid: Grid,
  budget: { left: number },
): Pick<SeriesData, "pointCount" | "data"> {
  const { request } = source;
  const range = { from: request.from ?? -Infinity, to: request.to ?? Infinity };
  const thresholds = request.includeReplaced ? [] : replacementThresholds(entry.state);
  const buckets = new Buckets(grid, request.buckets);
  for (const { points, firstOrdinal } of pieces(source, entry, false)) {
    const at = request.axis === "step" ? points.steps : points.times;
    const values = asNumbers(points);
    if (at === undefined || values === undefined) continue;
    buckets.add(at, values, range, markReplaced(points, firstOrdinal, thresholds));
  }
  // So few after all (a narrow range): every point is no more than the envelope would be.
  if (buckets.points > 0 && buckets.points <= request.buckets) return readExact(source, entry, budget);
  spend(budget, request.buckets, request);
  return { pointCount: buckets.points, data: buckets.finish() };
}

function spend(budget: { left: number }, points: number, request: ReadSeries): void {
  requireBudget(budget, points, request);
  budget.left -= points;
}

function requireBudget(budget: { left: number }, points: number, request: ReadSeries): void {
  if (points <= budget.left) return;
  throw new CairnError("exhausted", `cannot read more than ${request.pointsMax} points at once`, {
    reason: "LIMIT_EXCEEDED",
    hint: "ask for fewer series, a range, or an envelope with `buckets`",
  });
}
