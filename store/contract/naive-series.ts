/**
 * A series in the simplest form: a list of points, scanned from the beginning for every read. Engines are compared
 * with it. It follows the rules of core/SPEC.md under O, V7, V12 and P.
 */
import type { Points, Sample, SeriesKind, Summary } from "#core/types/series.ts";
import type { BandData, Grid, ReadSeries } from "#core/ports/point-store.ts";

export type NaiveValue = number | bigint | boolean | string;

export interface NaivePoint {
  writer: string;
  step: number | undefined;
  timeUs: number | undefined;
  nanos: number;
  value: NaiveValue;
  /** It is not visible any more, but points that it replaced stay replaced. */
  isDeleted?: boolean;
}

export type NaiveRange = Pick<ReadSeries, "axis" | "from" | "to" | "includeReplaced" | "onlyReplaced">;

export class NaiveSeries {
  readonly kind: SeriesKind;
  /** In order of arrival. */
  readonly points: NaivePoint[] = [];

  constructor(kind: SeriesKind) {
    this.kind = kind;
  }

  add(writer: string, points: Points): void {
    for (let i = 0; i < points.count; i++) {
      const value = points.values.data[i]!;
      this.points.push({
        writer,
        step: points.steps?.[i],
        timeUs: points.times?.[i],
        nanos: points.nanos?.[i] ?? 0,
        value: points.values.kind === "bool" ? value === 1 : value,
      });
    }
  }

  /** Returns how many points were deleted. A series without points starts empty. */
  delete({ axis, from, to }: Pick<ReadSeries, "axis" | "from" | "to">): number {
    const isOpen = from === undefined && to === undefined;
    let count = 0;
    for (const point of this.points) {
      const at = axisOf(point, axis);
      const isIn = isOpen || (at !== undefined && at >= (from ?? -Infinity) && at <= (to ?? Infinity));
      if (point.isDeleted === true || !isIn) continue;
      point.isDeleted = true;
      count++;
    }
    if (count > 0 && this.points.every(({ isDeleted }) => isDeleted)) this.points.length = 0;
    return count;
  }

  /** The same points, with their times counted from a moment. */
  since(startUs: number): NaiveSeries {
    const moved = new NaiveSeries(this.kind);
    for (const point of this.points) {
      const timeUs = point.timeUs === undefined ? undefined : point.timeUs - startUs;
      moved.points.push({ ...point, timeUs });
    }
    return moved;
  }

  /** Whether a writer that began later has logged this step or one before it. */
  isReplaced(at: number): boolean {
    const { step } = this.points[at]!;
    if (step === undefined) return false;
    const writers = new Set(this.points.map(({ writer }) => writer));
    return [...writers].some((writer) => {
      const own = this.points.filter((point) => point.writer === writer);
      const began = this.points.indexOf(own[0]!);
      return began > at && own.some((point) => point.step !== undefined && point.step <= step);
    });
  }

  /** Places of the points an exact read returns, in its order. */
  places({ axis, from, to, includeReplaced, onlyReplaced }: NaiveRange): number[] {
    const of = (at: number) => axisOf(this.points[at]!, axis);
    const open = from === undefined && to === undefined;
    return this.points
      .map((_, at) => at)
      .filter((at) => this.points[at]!.isDeleted !== true)
      .filter((at) => (onlyReplaced ? this.isReplaced(at) : includeReplaced || !this.isReplaced(at)))
      .filter(
        (at) =>
          open || (of(at) !== undefined && of(at)! >= (from ?? -Infinity) && of(at)! <= (to ?? Infinity)),
      )
      .sort((a, b) => (of(a) ?? Infinity) - (of(b) ?? Infinity) || a - b);
  }

  /** Of the points that have a place on the axis. */
  band(range: NaiveRange, grid: Grid, buckets: number): BandData {
    const filled = new Map<number, number[]>();
    for (const at of this.places(range)) {
      const x = axisOf(this.points[at]!, range.axis);
      if (x === undefined) continue;
      const bucket = bucketOf(grid, x, buckets);
      if (!filled.has(bucket)) filled.set(bucket, []);
      filled.get(bucket)!.push(this.numberAt(at));
    }
    const rows = [...filled].sort(([a], [b]) => a - b);
    const column = (of: (values: number[]) => number) => Float64Array.from(rows, ([, values]) => of(values));
    const numbers = (values: number[]) => values.filter((value) => !Number.isNaN(value));
    return {
      form: "band",
      bucket: Float64Array.from(rows, ([bucket]) => bucket),
      count: column((values) => values.length),
      min: column((values) => extreme(numbers(values), (a, b) => a < b)),
      max: column((values) => extreme(numbers(values), (a, b) => a > b)),
      first: column((values) => values[0]!),
      last: column((values) => values.at(-1)!),
      mean: column(
        (values) => numbers(values).reduce((sum, value) => sum + value, 0) / numbers(values).length,
      ),
      nanCount: column((values) => values.length - numbers(values).length),
    };
  }

  summary(): Summary {
    const left = this.points.map((_, at) => at).filter((at) => this.points[at]!.isDeleted !== true);
    const visible = left.filter((at) => !this.isReplaced(at));
    const numbers = visible.filter((at) => !Number.isNaN(this.numberAt(at)));
    const values = numbers.map((at) => this.numberAt(at));
    const isText = this.kind === "text";
    // First and last go by step, points without one before all others; ties by arrival.
    const byStep = visible.toSorted((a, b) => {
      const [x, y] = [this.points[a]!.step ?? -Infinity, this.points[b]!.step ?? -Infinity];
      return x === y ? a - b : x - y;
    });
    const firstStepped = byStep.find((at) => this.points[at]!.step !== undefined);
    return {
      count: visible.length,
      nanCount: isText ? 0 : visible.length - numbers.length,
      replacedCount: left.length - visible.length,
      first: this.sampleAt(firstStepped ?? byStep[0]),
      last: this.sampleAt(byStep.at(-1)),
      min: isText ? undefined : this.sampleAt(this.extremeAt(numbers, (a, b) => a < b)),
      max: isText ? undefined : this.sampleAt(this.extremeAt(numbers, (a, b) => a > b)),
      sum: isText ? 0 : values.reduce((sum, value) => sum + value, 0),
      sumSquares: isText ? 0 : values.reduce((sum, value) => sum + value * value, 0),
    };
  }

  /** The value as a double; NaN for a text. */
  numberAt(at: number): number {
    const { value } = this.points[at]!;
    return typeof value === "string" ? NaN : Number(value);
  }

  /** The earliest of those that no other one beats; integers are compared exactly. */
  private extremeAt(places: number[], beats: (a: NaiveValue, b: NaiveValue) => boolean): number | undefined {
    const valueOf = (at: number) => this.points[at]!.value;
    return places.find((at) => !places.some((other) => beats(valueOf(other), valueOf(at))));
  }

  private sampleAt(at: number | undefined): Sample | undefined {
    if (at === undefined) return undefined;
    const { step, timeUs, value } = this.points[at]!;
    return {
      step,
      timeUs,
      value: this.numberAt(at),
      ...(typeof value === "string" && { text: value }),
      ...(typeof value === "bigint" && { integer: value }),
    };
  }
}

function axisOf(point: NaivePoint, axis: "step" | "time"): number | undefined {
  return axis === "step" ? point.step : point.timeUs;
}

/** The last bucket also holds points that rounding would put after it. */
function bucketOf({ start, width }: Grid, x: number, buckets: number): number {
  let bucket = 0;
  while (bucket < buckets - 1 && x >= start + (bucket + 1) * width) bucket++;
  return bucket;
}

function extreme(values: number[], beats: (a: number, b: number) => boolean): number {
  return values.find((value) => !values.some((other) => beats(other, value))) ?? NaN;
}

/** An exact answer as a list of points, to compare with `places`. The writer is not in it. */
export function listPoints(points: Points): Omit<NaivePoint, "writer">[] {
  return Array.from({ length: points.count }, (_, i) => {
    const value = points.values.data[i]!;
    const step = points.steps?.[i];
    const timeUs = points.times?.[i];
    return {
      step: Number.isNaN(step) ? undefined : step,
      timeUs: Number.isNaN(timeUs) ? undefined : timeUs,
      nanos: points.nanos?.[i] ?? 0,
      value: points.values.kind === "bool" ? value === 1 : value,
    };
  });
}
