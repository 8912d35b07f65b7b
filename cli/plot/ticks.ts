/** Ticks at round numbers: 1, 2 or 5 times a power of ten. */

export interface Ticks {
  values: readonly number[];
  /** What lies between two of them; NaN where they are not evenly spaced. */
  step: number;
}

/** Beyond this, sums of numbers overflow. What is larger is drawn at the edge. */
export const VALUE_MAX = 1e300;
/** A step below this share of the numbers themselves could not be told apart from rounding. */
const STEP_SHARE_MIN = 1e-12;
const STEP_MIN = 1e-300;
/** How much of the axis the values should fill. */
const FILLED_MIN = 0.8;

export interface TickOptions {
  /** Only whole numbers, such as steps. */
  whole?: boolean;
}

/** About `wanted` ticks. The first is at most `min`, the last at least `max`. */
export function coveringTicks(
  min: number,
  max: number,
  wanted: number,
  { whole = false }: TickOptions = {},
): Ticks {
  const [low, high] = widened(clamped(min), clamped(max));
  const size = Math.max(Math.abs(low), Math.abs(high));
  // Divided first: the difference itself may overflow.
  const rough = Math.max(high / wanted - low / wanted, size * STEP_SHARE_MIN, STEP_MIN);
  const ticks = multiples(low, high, roundUp(rough, whole ? 0 : -Infinity));
  // Half a step at each end is lost with bad luck; then finer steps are worth it, unless they are too many.
  const share = (high / 2 - low / 2) / (ticks.values.at(-1)! / 2 - ticks.values[0]! / 2);
  if (share >= FILLED_MIN || ticks.step / 2 < Math.max(size * STEP_SHARE_MIN, STEP_MIN)) return ticks;
  const finer = multiples(low, high, roundUp(ticks.step / 2.5, whole ? 0 : -Infinity));
  return finer.values.length <= 2 * wanted ? finer : ticks;
}

/** The multiples of a round step from the last that is not above `low` to the first that is not below `high`. */
function multiples(low: number, high: number, { digit, exponent }: RoundStep): Ticks {
  const step = decimal(digit, exponent);
  const values: number[] = [];
  // Dividing rounds; one more at the beginning makes sure that the range is covered.
  let first = Math.floor(low / step);
  while (decimal(first * digit, exponent) > low) first--;
  for (let i = first; ; i++) {
    const value = decimal(i * digit, exponent);
    values.push(value);
    if (value >= high) return { values, step };
  }
}

/** Ticks for a logarithmic axis over positive numbers, covering them. */
export function coveringLogTicks(min: number, max: number, wanted: number): Ticks {
  const low = Math.max(STEP_MIN, clamped(min));
  const high = Math.max(low, clamped(max));
  let bottom = floorExponent(low);
  let top = floorExponent(high);
  if (decimal(1, top) < high) top++;
  if (top === bottom) {
    if (low === high) bottom--;
    else top++;
  }
  const fine: number[] = [];
  for (let exponent = bottom; exponent <= Math.min(top, bottom + wanted); exponent++) {
    for (const digit of [1, 2, 5]) fine.push(decimal(digit, exponent));
  }
  const from = fine.findLastIndex((value) => value <= low);
  const to = fine.findIndex((value) => value >= high && value > fine[from]!);
  if (to >= 0 && to - from < wanted + 2) return { values: fine.slice(from, to + 1), step: NaN };
  const decades = top - bottom;
  const every = Math.max(1, Math.ceil(decades / wanted));
  const last = bottom + Math.ceil(decades / every) * every;
  const values: number[] = [];
  for (let exponent = bottom; exponent <= last; exponent += every) values.push(decimal(1, exponent));
  return { values, step: NaN };
}

/** A tick as a short label; all labels of one axis have as many decimals as its step needs. */
export function tickLabel(value: number, step: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-4)) return exponentLabel(value);
  if (Number.isNaN(step)) return size >= 10_000 ? thousands(value) : String(Number(value.toPrecision(6)));
  if (step >= 1_000 || (size >= 10_000 && step >= 100)) return thousands(value);
  const decimals = Math.max(0, -floorExponent(step));
  if (value === 0 && decimals > 4) return "0";
  if (decimals > 9) return exponentLabel(value);
  return value.toFixed(decimals);
}

function thousands(value: number): string {
  for (const [unit, size] of [
    ["T", 1e12],
    ["G", 1e9],
    ["M", 1e6],
    ["k", 1e3],
  ] as const) {
    if (Math.abs(value) >= size) return `${Number((value / size).toPrecision(7))}${unit}`;
  }
  return String(value);
}

function exponentLabel(value: number): string {
  return Number(value.toPrecision(6)).toExponential().replace("+", "");
}

function clamped(value: number): number {
  return Math.min(VALUE_MAX, Math.max(-VALUE_MAX, value));
}

/** A range with room in it, also around a single value. */
function widened(min: number, max: number): [number, number] {
  if (max > min) return [min, max];
  const room = Math.abs(min) / 2 || 1;
  return [min - room, max + room];
}

interface RoundStep {
  digit: number;
  exponent: number;
}

/** The smallest 1, 2 or 5 times a power of ten that is not below `value`. */
function roundUp(value: number, exponentMin: number): RoundStep {
  let exponent = floorExponent(value);
  if (exponent < exponentMin) return { digit: 1, exponent: exponentMin };
  for (;;) {
    for (const digit of [1, 2, 5]) {
      if (decimal(digit, exponent) >= value) return { digit, exponent };
    }
    exponent++;
  }
}

/** The power of ten a positive number begins with; logarithms alone are off by one now and then. */
function floorExponent(value: number): number {
  return Number(value.toExponential().split("e")[1]);
}

/** Read as a decimal, so that 3 tenths are 0.3 and not 0.30000000000000004. */
function decimal(digits: number, exponent: number): number {
  return Number(`${digits}e${exponent}`);
}
