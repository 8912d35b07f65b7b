import type { Points, Sample, SeriesKind, Summary } from "../types/series.ts";

/**
 * The state of a series that is known without reading its points: summary, extent, and where restarts went
 * back. Points are numbered by arrival (their *ordinal*).
 *
 * A restart is visible as a writer whose first point in this series arrives after points of others: all
 * earlier points at or beyond the lowest step that writer logs are replaced. So point p is replaced
 * exactly when some writer's first point has a higher ordinal than p and its lowest step is at most
 * the step of p. Points without a step are never replaced.
 *
 *   writer A: steps 1 2 3 4 5 6   (ordinals 0 … 5)
 *   writer B: steps 4 5 6 7       (ordinals 6 … 9)  → ordinals 3, 4, 5 are replaced
 */
export interface SeriesState {
  kind: SeriesKind;
  /** All points, also replaced ones. */
  total: number;
  /** In order of their first point. */
  writers: WriterMark[];
  /** Of all points; NaN where no point has one. */
  stepMin: number;
  stepMax: number;
  timeMin: number;
  timeMax: number;
  summary: Summary;
}

export interface WriterMark {
  writer: number;
  firstOrdinal: number;
  /** Infinity while the writer has logged no step. */
  minStep: number;
  /** The highest step of all points before `firstOrdinal`; -Infinity when there is none. */
  maxStepBefore: number;
}

export function newSeriesState(kind: SeriesKind): SeriesState {
  return {
    kind,
    total: 0,
    writers: [],
    stepMin: NaN,
    stepMax: NaN,
    timeMin: NaN,
    timeMax: NaN,
    summary: newSummary(),
  };
}

/**
 * Takes in points that just arrived from one writer. Returns true when earlier points became
 * replaced, so that the summary must be recomputed with `summarize` over all points.
 */
export function addPoints(state: SeriesState, points: Points, writer: number): boolean {
  if (points.count === 0) return false;
  const { writers } = state;
  let mark = writers.length > 0 ? writers[writers.length - 1]! : undefined;
  if (mark?.writer !== writer) mark = writers.find((known) => known.writer === writer);
  if (mark === undefined) {
    const maxStepBefore = Number.isNaN(state.stepMax) ? -Infinity : state.stepMax;
    mark = { writer, firstOrdinal: state.total, minStep: Infinity, maxStepBefore };
    writers.push(mark);
  }
  let rewound = false;
  const { steps, times, count } = points;
  if (steps !== undefined) {
    const [low, high] = extent(steps, count);
    if (low < mark.minStep) {
      mark.minStep = low;
      rewound = low <= mark.maxStepBefore;
    }
    if (!(low >= state.stepMin)) state.stepMin = low;
    if (!(high <= state.stepMax)) state.stepMax = high;
  }
  if (times !== undefined) {
    const [low, high] = extent(times, count);
    if (!(low >= state.timeMin)) state.timeMin = low;
    if (!(high <= state.timeMax)) state.timeMax = high;
  }
  state.total += count;
  if (!rewound) addToSummary(state.summary, points, undefined);
  return rewound;
}

/** Points that arrived one after another. */
export interface Piece {
  points: Points;
  /** The ordinal of the first. */
  firstOrdinal: number;
}

/** Recomputes the summary from all points in order of arrival. Missing points are left out. */
export function summarize(state: SeriesState, pieces: Iterable<Piece>): void {
  const summary = newSummary();
  const thresholds = replacementThresholds(state);
  for (const { points, firstOrdinal } of pieces) {
    addToSummary(summary, points, markReplaced(points, firstOrdinal, thresholds));
  }
  state.summary = summary;
}

/**
 * The state of a series after points were deleted: from the other points, in order of arrival, and the same writers,
 * with the new ordinals. So replaced points stay replaced.
 */
export function rebuildState(
  kind: SeriesKind,
  writers: readonly WriterMark[],
  pieces: Iterable<Piece>,
): SeriesState {
  const state = newSeriesState(kind);
  state.writers = writers.map((mark) => ({ ...mark, maxStepBefore: -Infinity }));
  summarize(state, measured(state, pieces));
  return state;
}

/** Adds the pieces to everything except the summary. */
function* measured(state: SeriesState, pieces: Iterable<Piece>): Generator<Piece> {
  for (const piece of pieces) {
    const { steps, times, count } = piece.points;
    if (steps !== undefined) {
      const [low, high] = extent(steps, count);
      if (!(low >= state.stepMin)) state.stepMin = low;
      if (!(high <= state.stepMax)) state.stepMax = high;
      for (const mark of state.writers) {
        const before = Math.min(count, mark.firstOrdinal - piece.firstOrdinal);
        if (before > 0) mark.maxStepBefore = Math.max(mark.maxStepBefore, extent(steps, before)[1]);
      }
    }
    if (times !== undefined) {
      const [low, high] = extent(times, count);
      if (!(low >= state.timeMin)) state.timeMin = low;
      if (!(high <= state.timeMax)) state.timeMax = high;
    }
    state.total += count;
    yield piece;
  }
}

/** A step at or above `minStep` is replaced for every ordinal below `before`. Rising by `before`. */
export interface ReplacementThreshold {
  before: number;
  minStep: number;
}

/** Empty when nothing can be replaced: the common case. */
export function replacementThresholds(state: SeriesState): ReplacementThreshold[] {
  const thresholds: ReplacementThreshold[] = [];
  let lowest = Infinity;
  for (const mark of state.writers.toReversed()) {
    if (mark.minStep < lowest) lowest = mark.minStep;
    if (mark.firstOrdinal > 0 && lowest !== Infinity) {
      thresholds.unshift({ before: mark.firstOrdinal, minStep: lowest });
    }
  }
  return thresholds;
}

/** 1 per replaced point, given the ordinal of the first; undefined when there is none. */
export function markReplaced(
  points: Points,
  firstOrdinal: number,
  thresholds: readonly ReplacementThreshold[],
): Uint8Array | undefined {
  const { steps, count } = points;
  if (steps === undefined) return undefined;
  let marks: Uint8Array | undefined;
  let from = 0;
  for (const { before, minStep } of thresholds) {
    const to = Math.min(count, before - firstOrdinal);
    for (let i = from; i < to; i++) {
      if (steps[i]! >= minStep) (marks ??= new Uint8Array(count))[i] = 1;
    }
    if (to > from) from = to;
  }
  return marks;
}

function newSummary(): Summary {
  return {
    count: 0,
    nanCount: 0,
    replacedCount: 0,
    first: undefined,
    last: undefined,
    min: undefined,
    max: undefined,
    sum: 0,
    sumSquares: 0,
  };
}

function addToSummary(summary: Summary, points: Points, replaced: Uint8Array | undefined): void {
  const { count, steps, values } = points;
  const numbers = asNumbers(points);
  const integers = values.kind === "integer" ? values.data : undefined;
  let { sum, sumSquares, nanCount } = summary;
  let low = summary.min?.value ?? Infinity;
  let high = summary.max?.value ?? -Infinity;
  let lowAt = -1;
  let highAt = -1;
  let firstAt = -1;
  let lastAt = -1;
  let firstStep = summary.first === undefined ? NaN : (summary.first.step ?? NaN);
  let lastStep = summary.last === undefined ? NaN : (summary.last.step ?? NaN);
  let hasAny = summary.count > 0;
  let seen = 0;
  for (let i = 0; i < count; i++) {
    if (replaced !== undefined && replaced[i] === 1) continue;
    seen++;
    const step = steps === undefined ? NaN : steps[i]!;
    // Comparisons with NaN are false: a stepped point replaces one without, never the other way round.
    if (!hasAny || step < firstStep || (step === step && firstStep !== firstStep)) {
      firstAt = i;
      firstStep = step;
    }
    if (!hasAny || step >= lastStep || lastStep !== lastStep) {
      lastAt = i;
      lastStep = step;
    }
    hasAny = true;
    if (numbers === undefined) continue;
    const value = numbers[i]!;
    if (value !== value) {
      nanCount++;
      continue;
    }
    sum += value;
    sumSquares += value * value;
    if (value < low || (lowAt < 0 && summary.min === undefined)) {
      low = value;
      lowAt = i;
    } else if (integers !== undefined && value === low) {
      // Integers that share a double are compared exactly.
      if (integers[i]! < (lowAt < 0 ? summary.min!.integer! : integers[lowAt]!)) lowAt = i;
    }
    if (value > high || (highAt < 0 && summary.max === undefined)) {
      high = value;
      highAt = i;
    } else if (integers !== undefined && value === high) {
      if (integers[i]! > (highAt < 0 ? summary.max!.integer! : integers[highAt]!)) highAt = i;
    }
  }
  summary.count += seen;
  summary.replacedCount += count - seen;
  summary.nanCount = values.kind === "text" ? 0 : nanCount;
  summary.sum = sum;
  summary.sumSquares = sumSquares;
  if (firstAt >= 0) summary.first = sampleAt(points, firstAt);
  if (lastAt >= 0) summary.last = sampleAt(points, lastAt);
  if (lowAt >= 0) summary.min = sampleAt(points, lowAt);
  if (highAt >= 0) summary.max = sampleAt(points, highAt);
}

/** The values as doubles; undefined for texts. */
export function asNumbers(points: Points): Float64Array | Uint8Array | undefined {
  const { values } = points;
  switch (values.kind) {
    case "number":
    case "bool":
      return values.data;
    case "integer":
      return Float64Array.from(values.data, Number);
    case "text":
      return undefined;
  }
}

function sampleAt(points: Points, index: number): Sample {
  const { values, steps, times } = points;
  const sample: Sample = {
    step: present(steps?.[index]),
    timeUs: present(times?.[index]),
    value: NaN,
  };
  if (values.kind === "text") sample.text = values.data[index]!;
  else if (values.kind === "integer") {
    sample.integer = values.data[index]!;
    sample.value = Number(sample.integer);
  } else sample.value = values.data[index]!;
  return sample;
}

function present(value: number | undefined): number | undefined {
  return value === undefined || Number.isNaN(value) ? undefined : value;
}

function extent(column: Float64Array, count: number): [low: number, high: number] {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < count; i++) {
    const value = column[i]!;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}
