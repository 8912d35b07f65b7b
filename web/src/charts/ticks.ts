import type { Scale } from "./scale.ts";

/** Enough to tell ticks apart that are a millionth of their value from each other; zeros at the end are not shown. */
const LABEL_DIGITS = 9;
const EXPONENT_DIGITS = LABEL_DIGITS - 1;
const STEPS = [1, 2, 2.5, 5, 10] as const;

/** Round values within the scale, at most so many, the same distance apart; powers of ten on a log axis. */
export function ticksOf(scale: Scale, countMax: number): number[] {
  return scale.kind === "log"
    ? logTicks(scale.from, scale.to, countMax)
    : linearTicks(scale.from, scale.to, countMax);
}

export function linearTicks(from: number, to: number, countMax: number): number[] {
  if (!(to > from) || !Number.isFinite(to - from) || countMax < 1) return [];
  const rough = (to - from) / countMax;
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const step of [...STEPS, 20]) {
    const size = step * power;
    const first = Math.ceil(from / size - 1e-9);
    const last = Math.floor(to / size + 1e-9);
    const count = last - first + 1;
    if (count > countMax) continue;
    // Multiplied, not added up: sums would drift. Rounded to what the step can tell apart.
    const digits = Math.max(0, 1 - Math.floor(Math.log10(size)));
    return Array.from({ length: Math.max(0, count) }, (_, i) => {
      const value = (first + i) * size;
      return digits <= 15 ? Number(value.toFixed(digits)) : value;
    });
  }
  return [];
}

function logTicks(from: number, to: number, countMax: number): number[] {
  const first = Math.ceil(Math.log10(from) - 1e-9);
  const last = Math.floor(Math.log10(to) + 1e-9);
  const powers = last - first + 1;
  if (powers < 2) return linearTicks(from, to, countMax).filter((value) => value > 0);
  const every = Math.max(1, Math.ceil(powers / countMax));
  const ticks: number[] = [];
  for (let power = first; power <= last; power += every) ticks.push(Number(`1e${power}`));
  return ticks;
}

/** The labels of ticks: no more digits than they need, thousands as k and M. */
export function tickLabels(ticks: readonly number[]): string[] {
  const largest = ticks.reduce((most, tick) => Math.max(most, Math.abs(tick)), 0);
  const smallest = ticks.reduce(
    (least, tick) => (tick === 0 ? least : Math.min(least, Math.abs(tick))),
    Infinity,
  );
  if (largest >= 1e9 || smallest < 1e-4) return ticks.map((tick) => (tick === 0 ? "0" : shortExponent(tick)));
  const [unit, sign] = largest >= 1e6 ? [1e6, "M"] : largest >= 1e4 ? [1e3, "k"] : [1, ""];
  return ticks.map((tick) =>
    tick === 0 ? "0" : `${Number((tick / unit).toPrecision(LABEL_DIGITS))}${sign}`,
  );
}

function shortExponent(value: number): string {
  const [digits, power] = value.toExponential(EXPONENT_DIGITS).split("e");
  return `${Number(digits)}e${Number(power)}`;
}
