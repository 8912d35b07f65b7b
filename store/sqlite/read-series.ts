import { CairnError, quote } from "#core/errors.ts";
import type { Points } from "#core/model/series.ts";
import type { ExactData, Grid, ReadSeries, ReadSeriesResult, SeriesData } from "#core/ports/point-store.ts";
import { Buckets, gridOver } from "#core/series/buckets.ts";
import {
  asNumbers,
  markReplaced,
  replacementThresholds,
  type Piece,
  type ReplacementThreshold,
} from "#core/series/state.ts";
import type { SeriesEntry } from "./catalog.ts";
import { chunksIn, loggedPieces, openChunk, type ChunkRange } from "./chunks.ts";
import type { Db } from "./db.ts";
import { labelsFromText } from "./labels.ts";
import { joinPoints, pickPoints } from "./points.ts";
import type { TailPiece } from "./tail.ts";

/** A series as of now: its state with what the log adds to it, and that part of its points. */
export interface CurrentSeries {
  entry: SeriesEntry;
  logged: readonly TailPiece[];
}

interface Selected extends CurrentSeries {
  runId: string;
}

export function readAll(db: Db, selected: readonly Selected[], request: ReadSeries): ReadSeriesResult {
  const source = { db, request };
  const budget = { left: request.pointsMax };
  const comesExact = selected.map(({ entry }) => isExact(entry, request));
  // Without a range the counts are known: refuse before the work, not after.
  if (isOpen(request)) {
    const known = selected.filter((_, i) => comesExact[i]).map(({ entry }) => countAll(entry, request));
    requireBudget(
      budget,
      known.reduce((sum, count) => sum + count, 0),
      request,
    );
  }
  const exact = selected.map((one, i) => (comesExact[i] ? readExact(source, one, budget) : undefined));
  const rest = selected.filter((_, i) => exact[i] === undefined).map(({ entry }) => entry);
  const grid = gridFor(rest, request);
  const series: SeriesData[] = selected.map((one, i) => {
    const { runId, entry } = one;
    const read = exact[i] ?? readEnvelope(source, one, grid!, budget);
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

function isOpen({ from, to }: Range): boolean {
  return from === undefined && to === undefined;
}

/** Points of a read without a range. */
function countAll({ state }: SeriesEntry, { includeReplaced, onlyReplaced }: ReadSeries): number {
  if (onlyReplaced) return state.summary.replacedCount;
  return includeReplaced ? state.total : state.summary.count;
}

/** Exact data is wanted, or unavoidable (texts), or surely no longer than the envelope would be. */
function isExact(entry: SeriesEntry, request: ReadSeries): boolean {
  const { buckets } = request;
  if (buckets === 0 || entry.state.kind === "text" || entry.state.total <= buckets) return true;
  return isOpen(request) && countAll(entry, request) <= buckets;
}

/** What decides which points are looked at. */
type Range = Pick<ReadSeries, "axis" | "from" | "to">;

interface Source {
  db: Db;
  request: ReadSeries;
}

/** Pieces that may hold points of the range, in order of arrival. With `reuse` each is good until the next. */
export function* readPieces(
  { db, request }: { db: Db; request: Range },
  { entry, logged }: CurrentSeries,
  { times, reuse }: { times: boolean; reuse: boolean },
): Generator<Piece> {
  const { axis, from, to } = request;
  const range: ChunkRange | undefined = isOpen(request)
    ? undefined
    : { axis, from: from ?? -Infinity, to: to ?? Infinity };
  const want = { steps: true, times: times || axis === "time", values: true, reuse };
  let next = 0;
  for (const chunk of chunksIn(db, entry.id, range)) {
    const points = openChunk(entry, chunk, want);
    if (range === undefined) requireNext(entry, chunk.firstOrdinal, next);
    yield { points, firstOrdinal: chunk.firstOrdinal };
    next = chunk.firstOrdinal + points.count;
  }
  for (const piece of loggedPieces(entry, logged)) {
    if (range === undefined) requireNext(entry, piece.firstOrdinal, next);
    yield piece;
    next = piece.firstOrdinal + piece.points.count;
  }
  if (range === undefined) requireNext(entry, entry.state.total, next);
}

/** Points are numbered without gaps: one shows that something between has gone. */
function requireNext(entry: SeriesEntry, ordinal: number, expected: number): void {
  if (ordinal === expected) return;
  throw new CairnError(
    "corrupt",
    `cannot read series ${quote(entry.key)}: its points from number ${expected} on are missing`,
    { reason: "CHUNK_MISSING", hint: "restore a backup" },
  );
}

function readExact(
  source: Source,
  series: CurrentSeries,
  budget: { left: number },
): { pointCount: number; data: ExactData } {
  const { request } = source;
  const { entry } = series;
  const thresholds = replacementThresholds(entry.state);
  if (request.onlyReplaced && thresholds.length === 0) {
    return exactOf(joinPoints([], entry.state.kind), undefined, request, budget);
  }
  const whole = thresholds.length === 0 && isOpen(request) ? readWhole(source, series) : undefined;
  if (whole !== undefined) return exactOf(whole, undefined, request, budget);
  const read: Piece[] = [];
  let wanted = 0;
  for (const piece of readPieces(source, series, { times: true, reuse: false })) {
    read.push(piece);
    if (isOpen(request)) continue;
    wanted += countWanted(piece, request, thresholds);
    requireBudget(budget, wanted, request);
  }
  const points = joinPoints(
    read.map((piece) => piece.points),
    entry.state.kind,
  );
  return exactOf(points, joinMarks(read, thresholds, points.count), request, budget);
}

/** What was asked for of all these points, in order. */
function exactOf(
  points: Points,
  replaced: Uint8Array | undefined,
  request: ReadSeries,
  budget: { left: number },
): { pointCount: number; data: ExactData } {
  const order = orderedPlaces(points, request, unwanted(replaced, points.count, request));
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

/**
 * A series of numbers straight into columns of its length, without memory for each chunk. undefined for
 * other kinds, with nanoseconds, and where only some points have a step or a time.
 */
function readWhole(source: Source, series: CurrentSeries): Points | undefined {
  const { kind, total } = series.entry.state;
  if (kind !== "number") return undefined;
  const data = new Float64Array(total);
  let steps: Float64Array | undefined;
  let times: Float64Array | undefined;
  let at = 0;
  for (const { points } of readPieces(source, series, { times: true, reuse: true })) {
    if (at === 0) {
      steps = points.steps && new Float64Array(total);
      times = points.times && new Float64Array(total);
    }
    const same = (points.steps === undefined) === (steps === undefined);
    if (!same || (points.times === undefined) !== (times === undefined) || points.nanos !== undefined) {
      return undefined;
    }
    steps?.set(points.steps!, at);
    times?.set(points.times!, at);
    data.set(points.values.data as Float64Array, at);
    at += points.count;
  }
  return { count: total, steps, times, nanos: undefined, values: { kind, data } };
}

function countWanted(
  { points, firstOrdinal }: Piece,
  request: ReadSeries,
  thresholds: readonly ReplacementThreshold[],
): number {
  const axis = request.axis === "step" ? points.steps : points.times;
  if (axis === undefined) return 0;
  const skip = unwanted(markReplaced(points, firstOrdinal, thresholds), points.count, request);
  const { from = -Infinity, to = Infinity } = request;
  let wanted = 0;
  for (let i = 0; i < points.count; i++) {
    if (axis[i]! >= from && axis[i]! <= to && skip?.[i] !== 1) wanted++;
  }
  return wanted;
}

/** 1 for points that are not asked for, given which are replaced; undefined when all of them are. */
function unwanted(
  replaced: Uint8Array | undefined,
  count: number,
  { includeReplaced, onlyReplaced }: ReadSeries,
): Uint8Array | undefined {
  if (!onlyReplaced) return includeReplaced ? undefined : replaced;
  return replaced === undefined ? new Uint8Array(count).fill(1) : replaced.map((mark) => 1 - mark);
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
  for (let i = 0; i < axis.length; i++) {
    const at = axis[i]!;
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
  series: CurrentSeries,
  grid: Grid,
  budget: { left: number },
): Pick<SeriesData, "pointCount" | "data"> {
  const { request } = source;
  const { entry } = series;
  const range = { from: request.from ?? -Infinity, to: request.to ?? Infinity };
  const thresholds = replacementThresholds(entry.state);
  const buckets = new Buckets(grid, request.buckets);
  for (const { points, firstOrdinal } of readPieces(source, series, { times: false, reuse: true })) {
    const at = request.axis === "step" ? points.steps : points.times;
    const values = asNumbers(points);
    if (at === undefined || values === undefined) continue;
    const replaced = markReplaced(points, firstOrdinal, thresholds);
    buckets.add(at, values, range, unwanted(replaced, points.count, request));
  }
  // So few after all (a narrow range): every point is no more than the envelope would be.
  if (!isOpen(request) && buckets.points <= request.buckets) return readExact(source, series, budget);
  const data = buckets.finish();
  spend(budget, data.bucket.length, request);
  return { pointCount: buckets.points, data };
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
