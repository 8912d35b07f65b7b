import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { KeyDescriptionSchema, Picture } from "#proto/cairn/v1/key_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { descriptionOf, formOf, rangeFaults } from "./key-form.ts";

const PLACE = { namespace: "demo", key: "val/acc" };

describe("the form of a description", () => {
  it("Z202 a description is the same after the form is saved unchanged", () => {
    const pictures = [Picture.ACCURACY, Picture.LINE, Picture.CONFUSION_MATRIX, Picture.UNSPECIFIED];
    for (const picture of pictures) {
      const known = create(KeyDescriptionSchema, {
        ...PLACE,
        unit: "%",
        direction: Direction.MAXIMIZE,
        description: "of the test set",
        picture,
        min: 0,
        max: 1e-3,
      });
      expect(create(KeyDescriptionSchema, descriptionOf(formOf(known), PLACE, known))).toEqual(known);
    }
    const nothing = create(KeyDescriptionSchema, PLACE);
    expect(create(KeyDescriptionSchema, descriptionOf(formOf(undefined), PLACE, undefined))).toEqual(nothing);
  });

  it("Z202 an invalid range is reported at its field", () => {
    expect(rangeFaults({ min: "", max: "" })).toEqual({});
    expect(rangeFaults({ min: "-1e3", max: "0.5" })).toEqual({});
    expect(rangeFaults({ min: "zero", max: "one" })).toEqual({ min: "Not a number.", max: "Not a number." });
    expect(rangeFaults({ min: "Infinity", max: "" })).toEqual({ min: "Not a number." });
    expect(rangeFaults({ min: "1", max: "1" })).toEqual({ max: "Must be greater than the smallest value." });
  });
});
