/**
 * The realistic mix of machine-learning metrics that sizes and speeds are quoted for. The same index,
 * count and seed always give the same points, and a longer series begins like a shorter one.
 *
 * Of ten series in a row three are a float32 loss, one each a float64 loss, a learning rate with
 * warm-up and steps, an accuracy in 1/256, a float32 accuracy, memory in MiB, a percentage with one
 * decimal and a float32 gradient norm. Steps are regular, times are milliseconds with jitter.
 */
import type { Points } from "../points.ts";

const STEP_MS = 180;
const JITTER_MS = 9;
const CHECKPOINT_STEPS = 1000;
const CHECKPOINT_MS = 2000;
const START_US = 1_700_000_000_000_000;

export const mixKinds = [
  "loss f32",
  "loss f64",
  "lr",
  "acc 1/256",
  "acc f32",
  "memory",
  "percent",
  "grad norm",
] as const;

export type MixKind = (typeof mixKinds)[number];

const kindByPlace: readonly MixKind[] = ["loss f32", "loss f32", ...mixKinds];

export function mixKindOf(index: number): MixKind {
  return kindByPlace[index % kindByPlace.length]!;
}

export function mixSeries(index: number, count: number, seed: number): Points {
  const random = new Random(Math.imul(index + 1, 0x9e3779b1) ^ seed);
  const kind = mixKindOf(index);
  const steps = new Float64Array(count);
  const times = new Float64Array(count);
  const data = new Float64Array(count);
  let timeMs = START_US / 1000 + index * 37;
  for (let i = 0; i < count; i++) {
    steps[i] = i;
    times[i] = timeMs * 1000;
    data[i] = valueAt(kind, i, random);
    timeMs += Math.round(STEP_MS + JITTER_MS * random.normal());
    if ((i + 1) % CHECKPOINT_STEPS === 0) timeMs += CHECKPOINT_MS;
  }
  return { count, steps, times, nanos: undefined, values: { kind: "number", data } };
}

function valueAt(kind: MixKind, step: number, random: Random): number {
  const progress = Math.exp(-step / 5000);
  switch (kind) {
    case "loss f32":
      return Math.fround((0.4 + 4 * progress) * (1 + 0.08 * random.normal()));
    case "loss f64":
      return (0.4 + 4 * progress) * (1 + 0.08 * random.normal());
    case "lr":
      return step < 1000 ? (3e-4 * (step + 1)) / 1000 : 3e-4 * 0.1 ** Math.floor(step / 10_000);
    case "acc 1/256":
      return Math.round(256 * unit(0.9 - 0.8 * progress + 0.02 * random.normal())) / 256;
    case "acc f32":
      return Math.fround(unit(0.9 - 0.8 * progress + 0.01 * random.normal()));
    case "memory":
      return (
        20_480 +
        Math.floor(step / 500) * 3 +
        (random.uniform() < 0.05 ? Math.floor(random.uniform() * 64) : 0)
      );
    case "percent":
      return Math.round(10 * Math.min(100, 85 + 6 * random.normal())) / 10;
    case "grad norm":
      return Math.fround((1 + 3 * progress) * Math.exp(0.5 * random.normal()));
  }
}

function unit(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/** The mulberry32 generator. */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** In [0, 1). */
  uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Of mean 0 and deviation 1. */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }
}
