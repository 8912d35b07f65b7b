import { floorExponent } from "./round-step.ts";

export interface Tick {
  readonly at: number;
  readonly label: string;
}

const UNITS = [
  { name: "T", exponent: 12 },
  { name: "B", exponent: 9 },
  { name: "M", exponent: 6 },
  { name: "k", exponent: 3 },
] as const;
/** Below, all digits are as short as a unit. */
const UNIT_FROM = 1e4;
const UNIT_DECIMALS_MAX = 2;
/** Outside of these, numbers are written with an exponent. */
const LARGE = 1e15;
const SMALL = 1e-4;
const DIGITS = 6;
const DIGITS_MAX = 17;

/** Labels for values of one axis that are `step` apart: with one unit, and as many decimals as the step needs. */
export function labelledEvenly(values: readonly number[], step: number): Tick[] {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const stepExponent = floorExponent(step);
  if (largest >= LARGE || largest < SMALL) {
    return values.map((at) => ({ at, label: withExponent(at, floorExponent(at) - stepExponent) }));
  }
  const unit = unitOf(largest);
  const decimals = Math.max(0, (unit?.exponent ?? 0) - stepExponent);
  if (unit === undefined || decimals > UNIT_DECIMALS_MAX) {
    return values.map((at) => ({ at, label: at.toFixed(Math.max(0, -stepExponent)) }));
  }
  const inUnit = (at: number) => `${(at / 10 ** unit.exponent).toFixed(decimals)}${unit.name}`;
  return values.map((at) => ({ at, label: at === 0 ? "0" : inUnit(at) }));
}

/** Labels for other values: each as short as possible, with enough digits to differ. */
export function labelled(values: readonly number[]): Tick[] {
  const different = new Set(values).size;
  for (let digits = DIGITS; ; digits++) {
    const ticks = values.map((at) => ({ at, label: ownLabel(at, digits) }));
    if (digits === DIGITS_MAX || new Set(ticks.map(({ label }) => label)).size === different) return ticks;
  }
}

function ownLabel(value: number, digits: number): string {
  const size = Math.abs(value);
  if (size >= LARGE || size < SMALL) return withExponent(value, digits - 1);
  const plain = String(Number(value.toPrecision(digits)));
  const unit = unitOf(size);
  if (unit === undefined) return plain;
  const inUnit = `${Number((value / 10 ** unit.exponent).toPrecision(digits))}${unit.name}`;
  return inUnit.length < plain.length ? inUnit : plain;
}

function unitOf(size: number): (typeof UNITS)[number] | undefined {
  return size < UNIT_FROM ? undefined : UNITS.find(({ exponent }) => size >= 10 ** exponent);
}

/** 2e-7, 1.25e20. */
function withExponent(value: number, decimals: number): string {
  if (value === 0) return "0";
  const [digits, exponent] = value.toExponential(Math.max(0, decimals)).split("e");
  return `${Number(digits)}e${Number(exponent)}`;
}
