/** From values to places on an axis, such as pixels, and back. Immutable: a zoom makes a new one. */
export interface Scale {
  readonly kind: "linear" | "log";
  /** The values at both ends. */
  readonly from: number;
  readonly to: number;
  /** The places at both ends; those of pixels along y fall. */
  readonly start: number;
  readonly end: number;
  /** NaN for what has no place, such as 0 on a log axis. */
  toPlace(value: number): number;
  toValue(place: number): number;
}

export function linearScale(from: number, to: number, start: number, end: number): Scale {
  const [low, high] = spread(from, to);
  const perUnit = (end - start) / (high - low);
  return {
    kind: "linear",
    from: low,
    to: high,
    start,
    end,
    toPlace: (value) => start + (value - low) * perUnit,
    toValue: (place) => low + (place - start) / perUnit,
  };
}

/** For ranges above 0; `from` at or below it is raised to a millionth of `to`. */
export function logScale(from: number, to: number, start: number, end: number): Scale {
  const top = to > 0 ? to : 1;
  const bottom = from > 0 ? from : Math.max(Number.MIN_VALUE, top / 1e6);
  const [low, high] =
    bottom < top
      ? [bottom, top]
      : [Math.max(Number.MIN_VALUE, top / 10), Math.min(Number.MAX_VALUE, top * 10)];
  const lowLog = Math.log(low);
  const perUnit = (end - start) / (Math.log(high) - lowLog);
  return {
    kind: "log",
    from: low,
    to: high,
    start,
    end,
    toPlace: (value) => (value > 0 ? start + (Math.log(value) - lowLog) * perUnit : Number.NaN),
    toValue: (place) => Math.exp(lowLog + (place - start) / perUnit),
  };
}

const TINY = 1e-300;
/** Twice this is still finite. */
const HUGE = 8e307;

/** An empty range is widened, so that its one value is in the middle. */
function spread(from: number, to: number): [number, number] {
  const [low, high] = [Math.max(-HUGE, from), Math.min(HUGE, to)];
  if (high - low > TINY) return [low, high];
  const room = from === 0 ? 1 : Math.max(TINY, Math.abs(low) * 0.1);
  return [low - room, low + room];
}
