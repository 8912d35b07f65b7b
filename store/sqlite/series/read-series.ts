import { CairnError, quote } from "#lang/errors.ts";
import type { Points } from "#core/types/series.ts";
import type {
  ExactData,
  Grid,
  ReadSeries,
  ReadSeriesResult,
  SeriesData,
  SeriesOwner,
} from "#core/ports/point-store.ts";
import { Buckets, gridOver } from "#core/series/buckets.ts";
import type { ReadBudget } from "#core/series/read-budget.ts";
import { asNumbers, markReplaced, replacementThresholds, type Piece } from "#core/series/state.ts";
import type { SeriesEntry } from "./catalog.ts";
import { chunksIn, loggedPieces, openChunk, type ChunkRange } from "./chunks.ts";
import type { Db } from "../file/db.ts";
import { labelsFromText } from "./labels.ts";
import { joinPoints, pickPoints } from "./points.ts";
import type { TailPiece } from "../journal/tail.ts";

/** A series as of now: its state with what the log adds to it, and that part of its points. */
export interface CurrentSeries {
  entry: SeriesEntry;
  logged: readonly TailPiece[];
}

export interface Selected extends CurrentSeries {
  owner: SeriesOwner;
}

export function readAll(
  db: Db,
  selected: readonly Selected[],
  request: ReadSeries,
  budget: ReadBudget,
): ReadSeriesResult {
  const source = { db, request, budget };
  const comesExact = selected.map(({ entry }) => isExact(entry, request));
  // Without a range the counts are known: refuse before the work, not after.
  if (isOpen(request)) {
    const known = { points: 0, buckets: 0 };
    for (const [i, { entry }] of selected.entries()) {
      const count = countAll(entry, request);
      if (comesExact[i]) known.points += count;
      else known.buckets += Math.min(count, request.buckets);
    }
    budget.require(known);
  }
  const exact = selected.map((one, i) => (comesExact[i] ? readExact(source, one) : undefined));
  const rest = selected.filter((_, i) => exact[i] === undefined).map(({ entry }) => entry);
  const grid = gridFor(rest, request);
  const series: SeriesData[] = selected.map((one, i) => {
    const { owner, entry } = one;
    const read = exact[i] ?? readBand(source, one, grid!);
    return {
      ...owner,
      key: entry.key,
      labels: labelsFromText(entry.labels),
      kind: entry.state.kind,
      ...read,
    };
  });
  return { series, grid: series.some(({ data }) => data.form === "band") ? grid : undefined };
}

function isOpen({ from, to }: Range): boolean {
  return from === undefined && to === undefined;
}

/** Points of a read without a range. */
function countAll({ state }: SeriesEntry, { includeReplaced, onlyReplaced }: ReadSeries): number {
  if (onlyReplaced) return state.summary.replacedCount;
  return includeReplaced ? state.total : state.summary.count;
}

/** Exact data is wanted, or unavoidable (texts), or surely no longer than the band would be. */
function isExact(entry: SeriesEntry, request: ReadSeries): boolean {
  const { buckets } = request;
  if (buckets === 0 || entry.state.kind === "text" || entry.state.total <= buckets) return true;
  return isOpen(request) && countAll(entry, request) <= buckets;
}

/** The selection of points. */
type Range = Pick<ReadSeries, "axis" | "from" | "to">;

interface Source {
  db: Db;
  request: ReadSeries;
  budget: ReadBudget;
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

/** Points are numbered without gaps: a gap shows that points are missing. */
function requireNext(entry: SeriesEntry, ordinal: number, expected: number): void {
  if (ordinal === expected) return;
  throw new CairnError(
    "corrupt",
    `cannot read series ${quote(entry.key)}: its points from number ${expected} on are missing`,
    { reason: "CHUNK_MISSING", hint: "restore a backup" },
  );
}

function readExact(source: Source, series: CurrentSeries): { pointCount: number; data: ExactData } {
  const { request, budget } = source;
  const { kind } = series.entry.state;
  const thresholds = replacementThresholds(series.entry.state);
  if (request.onlyReplaced && thresholds.length === 0) {
    return exactOf(joinPoints([], kind), undefined, request);
  }
  const whole = thresholds.length === 0 && isOpen(request) ? readWhole(source, series) : undefined;
  if (whole !== undefined) {
    budget.spend({ points: whole.count });
    return exactOf(whole, undefined, request);
  }
  const kept: Points[] = [];
  const marks: Uint8Array[] = [];
  for (const { points, firstOrdinal } of readPieces(source, series, { times: true, reuse: false })) {
    const replaced = markReplaced(points, firstOrdinal, thresholds);
    // Right away: a chunk may hold few of the points that are asked for, and there may be very many chunks.
    const places = wantedPlaces(points, request, unwanted(replaced, points.count, request));
    const wanted = places === undefined ? points : pickPoints(points, places);
    if (wanted.count === 0) continue;
    budget.spend({
      points: wanted.count,
      numbers: wanted.nanos === undefined ? 0 : wanted.count,
      textBytes: textBytes(wanted),
    });
    kept.push(wanted);
    if (request.includeReplaced) marks.push(marksOf(replaced, places, wanted.count));
  }
  return exactOf(joinPoints(kept, kind), joinMarks(marks), request);
}

function textBytes({ values }: Points): number {
  if (values.kind !== "text") return 0;
  return values.data.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** All of these points, in order. */
function exactOf(
  points: Points,
  replaced: Uint8Array | undefined,
  request: ReadSeries,
): { pointCount: number; data: ExactData } {
  const order = sortedPlaces(points, request);
  const sorted = order === undefined ? points : pickPoints(points, order);
  return {
    pointCount: sorted.count,
    data: {
      form: "exact",
      points: sorted,
      replaced: request.includeReplaced ? marksOf(replaced, order, sorted.count) : undefined,
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

/** 1 for points that are not asked for, given which are replaced; undefined when all of them are. */
function unwanted(
  replaced: Uint8Array | undefined,
  count: number,
  { includeReplaced, onlyReplaced }: ReadSeries,
): Uint8Array | undefined {
  if (!onlyReplaced) return includeReplaced ? undefined : replaced;
  return replaced === undefined ? new Uint8Array(count).fill(1) : replaced.map((mark) => 1 - mark);
}

function joinMarks(marks: readonly Uint8Array[]): Uint8Array | undefined {
  if (marks.length === 0) return undefined;
  const joined = new Uint8Array(marks.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of marks) {
    joined.set(part, at);
    at += part.length;
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

/** Places of the points in the range that are not skipped; undefined when that is all of them. */
function wantedPlaces(
  points: Points,
  request: ReadSeries,
  skip: Uint8Array | undefined,
): Uint32Array | undefined {
  const axis = axisOf(points, request);
  const open = isOpen(request);
  if (open && skip === undefined) return undefined;
  if (!open && axis === undefined) return new Uint32Array();
  const { from = -Infinity, to = Infinity } = request;
  const places = new Uint32Array(points.count);
  let wanted = 0;
  for (let i = 0; i < points.count; i++) {
    if (skip?.[i] === 1 || !(open || (axis![i]! >= from && axis![i]! <= to))) continue;
    places[wanted++] = i;
  }
  return wanted === points.count ? undefined : places.subarray(0, wanted);
}

/** Places in order of the axis, then of arrival; undefined when that is how they are. */
function sortedPlaces(points: Points, request: ReadSeries): Uint32Array | undefined {
  const axis = axisOf(points, request);
  if (axis === undefined || isOrdered(axis)) return undefined;
  const places = Uint32Array.from({ length: points.count }, (_, place) => place);
  // Ties are decided by the place, that is by arrival. Points off the axis come last.
  return places.sort((a, b) => compare(axis[a]!, axis[b]!) || a - b);
}

function axisOf(points: Points, { axis }: ReadSeries): Float64Array | undefined {
  return axis === "step" ? points.steps : points.times;
}

function isOrdered(axis: Float64Array): boolean {
  let last = -Infinity;
  for (let i = 0; i < axis.length; i++) {
    const at = axis[i]!;
    if (!(at >= last)) return false;
    last = at;
  }
  return true;
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

function readBand(
  source: Source,
  series: CurrentSeries,
  grid: Grid,
): Pick<SeriesData, "pointCount" | "data"> {
  const { request, budget } = source;
  const { entry } = series;
  const range = { from: request.from ?? -Infinity, to: request.to ?? Infinity };
  const thresholds = replacementThresholds(entry.state);
  const buckets = new Buckets(grid, request.buckets);
  for (const { points, firstOrdinal } of readPieces(source, series, { times: false, reuse: true })) {
    const at = axisOf(points, request);
    const values = asNumbers(points);
    if (at === undefined || values === undefined) continue;
    const replaced = markReplaced(points, firstOrdinal, thresholds);
    buckets.add(at, values, range, unwanted(replaced, points.count, request));
  }
  // So few after all (a narrow range): all points are no more than the band would have.
  if (!isOpen(request) && buckets.points <= request.buckets) return readExact(source, series);
  const data = buckets.finish();
  budget.spend({ buckets: data.bucket.length });
  return { pointCount: buckets.points, data };
}
