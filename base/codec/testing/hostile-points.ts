/** Arbitrary points for property tests, with a bias towards everything that is hard to store. */
import fc from "fast-check";
import { INTEGER_MAX } from "../byte-writer.ts";
import type { Kind } from "../kind.ts";
import type { Points, Values } from "../points.ts";

/** The two words of a double, low word first: a NaN must never pass through a number. */
type Bits = readonly [low: number, high: number];

const word = fc.integer({ min: 0, max: 0xffffffff });
const anyBits: fc.Arbitrary<Bits> = fc.tuple(word, word);
const specialBits = fc.constantFrom<Bits>(
  [0, 0x7ff80000], // the canonical NaN
  [0, 0xfff80000], // the NaN of 0/0 on many machines
  [1, 0x7ff00000], // a signalling NaN
  [0xffffffff, 0x7fffffff],
  [0xffffffff, 0xffffffff],
  [0x0f0f0f0f, 0x7ff8f0f0],
  [0, 0x7ff00000], // Infinity
  [0, 0xfff00000],
  [0, 0x80000000], // -0
  [0, 0],
  [1, 0], // the least subnormal
  [0xffffffff, 0x000fffff],
  [0xffffffff, 0x7fefffff], // the largest number
);
const nanBits = fc.tuple(word, word).map(([low, high]): Bits => [low | 1, high | 0x7ff00000]);

function toBits(number: number): Bits {
  const [low, high] = new Uint32Array(Float64Array.of(number).buffer);
  return [low!, high!];
}

const float32 = fc.float({ noNaN: true }).map(toBits);
const float16 = fc.integer({ min: -2048, max: 2047 }).map((n) => toBits(n / 64));
const decimal = (scale: number): fc.Arbitrary<Bits> =>
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => toBits(n / scale));
const narrowDecimal = (scale: number): fc.Arbitrary<Bits> =>
  fc.integer({ min: -90_000, max: 90_000 }).map((n) => toBits(Math.fround(n / scale)));
const counter = fc.integer({ min: -(2 ** 53), max: 2 ** 53 }).map(toBits);
const small = fc.integer({ min: -300, max: 300 }).map(toBits);

const sorts = [anyBits, specialBits, nanBits, float32, float16, counter, small].concat(
  [1e3, 1e6, 1e9].map(decimal),
  [1e3, 1e5].map(narrowDecimal),
);

/** Mostly of one sort, so that every form of a chunk comes up, sometimes with an outlier among them. */
const numberBits = (count: number): fc.Arbitrary<Bits[]> =>
  fc
    .tuple(
      fc.constantFrom(...sorts),
      fc.option(fc.tuple(fc.nat(), fc.oneof(specialBits, nanBits, anyBits)), { freq: 1 }),
    )
    .chain(([sort, special]) =>
      fc.array(sort, { minLength: count, maxLength: count, size: "max" }).map((bits) => {
        if (special !== null && count > 0) bits[special[0] % count] = special[1];
        return bits;
      }),
    );

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -(2n ** 53n) - 2n, max: -(2n ** 53n) + 2n }),
  fc.bigInt({ min: 2n ** 53n - 2n, max: 2n ** 53n + 2n }),
  fc.constantFrom(0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n)),
);
const smallInt64 = fc.bigInt({ min: -1000n, max: 1000n });

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.string({ maxLength: 200 }),
  fc.constantFrom("", "\uFEFFmark", "\uD83D", "\uDE00", "😀", "a\u0000b", "é".repeat(70)),
);

function valuesOf(kind: Kind, count: number): fc.Arbitrary<Values> {
  const exactly = { minLength: count, maxLength: count, size: "max" } as const;
  switch (kind) {
    case "number":
      return numberBits(count).map((bits) => ({
        kind,
        data: new Float64Array(Uint32Array.from(bits.flat()).buffer),
      }));
    case "integer":
      return fc
        .oneof(fc.array(int64, exactly), fc.array(smallInt64, exactly))
        .map((integers) => ({ kind, data: BigInt64Array.from(integers) }));
    case "bool":
      return fc
        .array(fc.integer({ min: 0, max: 1 }), exactly)
        .map((bools) => ({ kind, data: Uint8Array.from(bools) }));
    case "text":
      return fc.array(text, exactly).map((data) => ({ kind, data }));
  }
}

const extreme = fc.oneof(
  fc.constantFrom(-INTEGER_MAX, INTEGER_MAX, -INTEGER_MAX + 1, INTEGER_MAX - 1, 0, 1, -1),
  fc.integer({ min: -INTEGER_MAX, max: INTEGER_MAX }),
);

/** Steps or times: anything at all, or a walk from anywhere with small or regular moves. */
function integersOf(count: number): fc.Arbitrary<Float64Array> {
  const exactly = { minLength: count, maxLength: count, size: "max" } as const;
  const anything = fc.array(extreme, exactly);
  const walk = fc
    .tuple(
      fc.oneof(extreme, fc.integer({ min: 0, max: 2 ** 51 })),
      fc.constantFrom(1, 50, 1000, 1e6, 2 ** 32, 2 ** 45),
      fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -(2 ** 31), max: 2 ** 31 })),
      fc.oneof(
        fc.array(fc.constant(0), exactly),
        fc.array(fc.integer({ min: -9, max: 9 }), exactly),
        fc.array(fc.oneof(fc.constant(0), fc.integer({ min: -(2 ** 33), max: 2 ** 33 })), exactly),
      ),
    )
    .map(([first, unit, stride, moves]) => {
      let value = first;
      return moves.map((move) => {
        const next = value + unit * (stride + move);
        const here = value;
        value = Math.abs(next) <= INTEGER_MAX ? next : first;
        return here;
      });
    });
  return fc.oneof(anything, walk).map((integers) => Float64Array.from(integers));
}

export function pointsOf(kind: Kind, count: number): fc.Arbitrary<Points> {
  const nano = fc.integer({ min: 0, max: 999 });
  return fc
    .tuple(
      fc.option(integersOf(count), { nil: undefined }),
      fc.option(integersOf(count), { nil: undefined }),
      fc.option(fc.array(nano, { minLength: count, maxLength: count, size: "max" }), {
        nil: undefined,
        freq: 1,
      }),
      valuesOf(kind, count),
    )
    .map(([steps, times, nanos, values]) => ({
      count,
      steps,
      times,
      nanos: nanos === undefined ? undefined : Uint16Array.from(nanos),
      values,
    }));
}

export function pointsOfUpTo(kind: Kind, countMax: number): fc.Arbitrary<Points> {
  const count = fc.oneof(fc.constantFrom(0, 1, 2, 3), fc.integer({ min: 0, max: countMax }));
  return count.chain((size) => pointsOf(kind, size));
}

/** Points with the bits of every column as text, to be compared with `toEqual`. */
export function bitsOf(points: Points): unknown {
  const { count, steps, times, nanos, values } = points;
  const hex = (column: Float64Array | Uint16Array | BigInt64Array | Uint8Array | undefined): unknown =>
    column === undefined
      ? undefined
      : [
          column.constructor.name,
          Buffer.from(column.buffer, column.byteOffset, column.byteLength).toString("hex"),
        ];
  const data = values.kind === "text" ? values.data : hex(values.data);
  return { count, steps: hex(steps), times: hex(times), nanos: hex(nanos), kind: values.kind, data };
}
