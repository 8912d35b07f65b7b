import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { KeyDescriptionSchema, Picture } from "#proto/cairn/v1/key_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { pictureOf } from "../../charts/chart-picture.ts";
import { drawingOf } from "./key-drawing.ts";

const of = (given: MessageInitShape<typeof KeyDescriptionSchema>) =>
  drawingOf(create(KeyDescriptionSchema, given));

describe("how a described key is drawn", () => {
  it("Z201 a described range is always shown, each end by itself, and an accuracy has 0 to 1", () => {
    expect(drawingOf(undefined).fixedY).toBeUndefined();
    expect(of({ unit: "s" }).fixedY).toBeUndefined();
    expect(of({ picture: Picture.ACCURACY }).fixedY).toEqual([0, 1]);
    expect(of({ picture: Picture.ACCURACY, max: 100 }).fixedY).toEqual([0, 100]);
    expect(of({ min: 0, max: 5 }).fixedY).toEqual([0, 5]);
    expect(of({ min: 0 }).fixedY).toEqual([0, -Infinity]);
    expect(of({ max: 1 }).fixedY).toEqual([Infinity, 1]);
  });

  it("Z201 an end that is not described follows the values", () => {
    const line = {
      id: "a",
      runId: "a",
      name: "a",
      colour: "#000",
      dash: [],
      x: Float64Array.of(0, 1, 2),
      y: Float64Array.of(0.4, 0.5, 0.6),
      exact: true,
      pointCount: 3,
      unplacedCount: 0,
    };
    const yOf = (given: MessageInitShape<typeof KeyDescriptionSchema>, log = false) => {
      const { fixedY } = of(given);
      const options = { xKind: "step", log, clip: false, smoothing: { kind: "none" }, fixedY } as const;
      const { y } = pictureOf([line], 400, 200, options)!.frame;
      return [y.from, y.to];
    };
    const [low, high] = yOf({});
    expect(yOf({ min: 0 })).toEqual([0, high]);
    expect(yOf({ max: 1 })).toEqual([low, 1]);
    expect(yOf({ min: 0, max: 1 })).toEqual([0, 1]);
    // A log axis never reaches 0, and values beyond the range are shown all the same.
    expect(yOf({ min: 0, max: 0.5 }, true)[0]).toBeGreaterThan(0);
    expect(yOf({ max: 0.5 })[1]).toBe(high);
  });

  it("Z201 the best value comes first, by the direction that is described", () => {
    expect(of({ direction: Direction.MINIMIZE }).order).toBe("rising");
    expect(of({ direction: Direction.MAXIMIZE }).order).toBe("falling");
    expect(of({}).order).toBe("falling");
  });
});
