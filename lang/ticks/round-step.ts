/**
 * Round numbers: 1, 2 or 5 times a power of ten. Not 2.5, whose multiples need a digit more than those of its neighbours: 0.25 and
 * 0.75 between 0.2 and 0.5.
 */
export interface RoundStep {
  readonly digit: 1 | 2 | 5;
  readonly exponent: number;
}

const DIGITS = [1, 2, 5] as const;

/** The smallest one that is not below a positive value. */
export function roundStepFrom(value: number): RoundStep {
  const exponent = floorExponent(value);
  const digit = DIGITS.find((one) => decimal(one, exponent) >= value);
  return digit === undefined ? { digit: 1, exponent: exponent + 1 } : { digit, exponent };
}

export function nextStep({ digit, exponent }: RoundStep): RoundStep {
  if (digit === 5) return { digit: 1, exponent: exponent + 1 };
  return { digit: digit === 1 ? 2 : 5, exponent };
}

/** The step itself, or so many of them. */
export function sizeOf({ digit, exponent }: RoundStep, count = 1): number {
  return decimal(count * digit, exponent);
}

/** How many steps there are to the last multiple that is not above the value. */
export function stepsUpTo(value: number, step: RoundStep): number {
  let count = Math.floor(value / sizeOf(step));
  // Dividing rounds.
  while (sizeOf(step, count) > value) count--;
  while (sizeOf(step, count + 1) <= value) count++;
  return count;
}

/** The power of ten a number begins with; logarithms alone are sometimes off by one. */
export function floorExponent(value: number): number {
  return Number(value.toExponential().split("e")[1]);
}

/** Read as a decimal, so that 3 tenths are 0.3 and not 0.30000000000000004. */
export function decimal(digits: number, exponent: number): number {
  return Number(`${digits}e${exponent}`);
}
