import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { axisOf, brushBetween, partsOf, placesOf } from "./axis.ts";
import { maskOf } from "./brush.ts";
import { ExploredTable } from "./explored-table.ts";

function axisFor(texts: readonly (string | undefined)[], scale?: "log" | "linear") {
  const runs = texts.map((text) => create(RunSchema, { params: text === undefined ? {} : { p: text } }));
  return axisOf(new ExploredTable(runs, 0).column("params.p"), scale, 8);
}

describe("axes", () => {
  it("Z65 every value has a place from 0 to 1 in its order, on linear, log and categorical axes", () => {
    const texts = fc.array(
      fc.oneof(
        fc.double({ noNaN: true, min: -1e9, max: 1e9 }).map(String),
        fc.constantFrom("NaN", "Infinity", "5e-324", "1e-300", "1e300", "1.7976931348623157e308"),
      ),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(texts, fc.constantFrom<"log" | "linear">("log", "linear"), (given, scale) => {
        const axis = axisFor(given, scale);
        const places = placesOf(axis);
        const { values } = axis.column;
        for (const [i, place] of places.entries()) {
          expect(Number.isNaN(place)).toBe(Number.isNaN(values[i]));
          if (Number.isNaN(place)) continue;
          expect(place).toBeGreaterThanOrEqual(-1e-6);
          expect(place).toBeLessThanOrEqual(1 + 1e-6);
          for (let j = 0; j < i; j++) if (values[j] < values[i]) expect(places[j]).toBeLessThanOrEqual(place);
        }
        for (const tick of axis.ticks) expect(tick.place).toBeGreaterThanOrEqual(-1e-6);
      }),
    );
    const words = axisFor(['"b"', '"a"', undefined, '"c 🎙"']);
    expect([...placesOf(words)].map((place) => Math.round(place * 6))).toEqual([3, 1, Number.NaN, 5]);
    expect(words).toMatchObject({ scale: "category", hasNone: true });
    expect(words.ticks.map(({ label }) => label)).toEqual(["a", "b", "c 🎙"]);
  });

  it("Z65 an axis is a log one only where all values are above 0; learning rates by default", () => {
    expect(axisFor(["0", "1"], "log")).toMatchObject({ scale: "linear", mayBeLog: false });
    expect(axisFor(["0.001", "1"], "log")).toMatchObject({ scale: "log", mayBeLog: true });
    expect(axisFor(["1e-5", "1e-4", "1e-3"]).scale).toBe("log");
    expect(axisFor(["1e-5", "1e-4", "1e-3"], "linear").scale).toBe("linear");
    expect(axisFor(["NaN", "Infinity"])).toMatchObject({ scale: "linear", ticks: [] });
    expect(placesOf(axisFor(["3", "3"]))[0]).toBeCloseTo(0.5);
  });

  it("Z66 a part of an axis selects the runs inside it, and covers that part", () => {
    const part = fc.tuple(
      fc.double({ min: -0.2, max: 1.2, noNaN: true }),
      fc.double({ min: -0.2, max: 1.2, noNaN: true }),
    );
    const texts = fc.array(
      fc.oneof(fc.integer({ min: 1, max: 60 }).map(String), fc.constantFrom('"a"', '"b"', undefined)),
      {
        minLength: 1,
      },
    );
    fc.assert(
      fc.property(texts, part, fc.boolean(), (given, [a, b], none) => {
        const axis = axisFor(given, "log");
        const [low, high] = a <= b ? [a, b] : [b, a];
        const brush = brushBetween(axis, a, b, none);
        const mask = maskOf(given.length, () => axis.column, brush === undefined ? {} : { p: brush });
        const isAll = brush === undefined;
        for (const [i, value] of axis.column.values.entries()) {
          const place = axis.placeOf(value);
          const isWanted = Number.isNaN(place) ? none : place >= low && place <= high;
          // At the very edge of a range the last digit decides.
          if (Math.abs(place - low) < 1e-9 || Math.abs(place - high) < 1e-9) continue;
          if (!isAll) expect(mask[i] === 1, `${value} at ${place}`).toBe(isWanted);
          else expect(isWanted).toBe(false);
        }
        for (const [from, to] of brush === undefined ? [] : partsOf(axis, brush)) {
          expect(from).toBeLessThanOrEqual(to);
          expect(from).toBeGreaterThanOrEqual(0);
          expect(to).toBeLessThanOrEqual(1 + 1e-9);
        }
      }),
    );
    // The ends of a log axis are powers that come back with another last digit.
    for (const [low, high] of [
      ["0.0001", "0.003"],
      ["0.3", "7"],
      ["1e-5", "0.1"],
    ] as const) {
      const axis = axisFor([low, high, String(Math.sqrt(Number(low) * Number(high)))], "log");
      const kept = (from: number, to: number) =>
        [...maskOf(3, () => axis.column, { p: brushBetween(axis, from, to, false) })].join("");
      expect([kept(0, 0.6), kept(0.4, 1), kept(0, 1), kept(0, 0), kept(1, 1)]).toEqual([
        "101",
        "011",
        "111",
        "100",
        "010",
      ]);
    }
  });
});
