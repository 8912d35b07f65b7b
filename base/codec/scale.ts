/**
 * Numbers that people or programs rounded, such as 99.1, 0.8125 or 20480, are whole after scaling and
 * take a fraction of the bytes as integers. A scale is kept only when every number comes back from it
 * with the same bits.
 */
import { CodecError } from "./error.ts";

interface Scale {
  readonly code: number;
  readonly factor: number;
  /** The numbers were rounded to float32 after the division. */
  readonly narrow: boolean;
  /** Above this, the integers would not be smaller than the floats that they represent. */
  readonly integerMax: number;
}

// Tried in this order. Finer scales than a series needs do no harm: integers are divided by what
// they have in common. The code is what a chunk stores, so a scale may be added but never changed.
const scales: readonly Scale[] = [
  { code: 0, factor: 1, narrow: false, integerMax: 2 ** 53 },
  { code: 1, factor: 2 ** 12, narrow: false, integerMax: 2 ** 22 },
  { code: 2, factor: 1e3, narrow: false, integerMax: 2 ** 48 },
  { code: 3, factor: 1e6, narrow: false, integerMax: 2 ** 48 },
  { code: 4, factor: 1e9, narrow: false, integerMax: 2 ** 48 },
  { code: 5, factor: 1e3, narrow: true, integerMax: 2 ** 20 },
  { code: 6, factor: 1e5, narrow: true, integerMax: 2 ** 20 },
];

/** Fills `integers` and returns the code of their scale, or undefined when the numbers have none. */
export function findScale(numbers: Float64Array, integers: Float64Array): number | undefined {
  // A number that did not fit one scale is likely not to fit the next.
  let suspect = 0;
  for (const scale of scales) {
    if (firstMisfit(numbers, integers, scale, suspect, suspect + 1) !== -1) continue;
    const misfit = firstMisfit(numbers, integers, scale, 0, numbers.length);
    if (misfit === -1) return scale.code;
    suspect = misfit;
  }
  return undefined;
}

/** Undoes a scale: `numbers` gets the values of `integers`. */
export function unscale(code: number, integers: Float64Array, numbers: Float64Array): void {
  const scale = scales[code];
  if (scale === undefined) throw new CodecError(`cannot decode numbers: unknown scale ${code}`);
  const { factor, narrow } = scale;
  if (narrow) for (let i = 0; i < numbers.length; i++) numbers[i] = Math.fround(integers[i]! / factor);
  else if (factor === 1) numbers.set(integers.subarray(0, numbers.length));
  else for (let i = 0; i < numbers.length; i++) numbers[i] = integers[i]! / factor;
}

/** Where in [from, to) the scale first fails, or -1. NaN and the infinities fail, and so does -0. */
function firstMisfit(
  numbers: Float64Array,
  integers: Float64Array,
  scale: Scale,
  from: number,
  to: number,
): number {
  const { factor, narrow, integerMax } = scale;
  for (let i = from; i < to; i++) {
    const number = numbers[i]!;
    const integer = Math.round(number * factor);
    const back = narrow ? Math.fround(integer / factor) : integer / factor;
    if (back !== number || Math.abs(integer) > integerMax) return i;
    if (number === 0 && 1 / number < 0) return i;
    integers[i] = integer;
  }
  return -1;
}
