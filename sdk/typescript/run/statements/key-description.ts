import { create, toBinary } from "@bufbuild/protobuf";
import { DescribeKeyRequestSchema, Picture } from "#proto/cairn/v1/key_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { keyProblem } from "../problems.ts";
import { quoted } from "../notices.ts";

/** What a metric key means: in the namespace of the run and below it. */
export interface KeyDescription {
  /** Such as "s" or "tokens/s". */
  unit?: string | undefined;
  /** Which values are better. */
  direction?: "max" | "min" | undefined;
  /** The range that it can have. */
  min?: number | undefined;
  max?: number | undefined;
  picture?: PictureName | undefined;
  description?: string | undefined;
}

export type PictureName = "line" | "accuracy" | "confusionMatrix" | "roc" | "pr" | "histogram";

const PICTURES: Readonly<Record<PictureName, Picture>> = {
  line: Picture.LINE,
  accuracy: Picture.ACCURACY,
  confusionMatrix: Picture.CONFUSION_MATRIX,
  roc: Picture.ROC,
  pr: Picture.PR,
  histogram: Picture.HISTOGRAM,
};
const DIRECTIONS = { max: Direction.MAXIMIZE, min: Direction.MINIMIZE } as const;
const NAMES: ReadonlySet<string> = new Set(["unit", "direction", "min", "max", "picture", "description"]);

/** The body of a describe frame. Throws for what cannot be kept. */
export function describeRequest(namespace: string, key: string, given: KeyDescription): Uint8Array {
  const problem = keyProblem(key);
  if (problem !== undefined) throw new TypeError(problem);
  for (const name of Object.keys(given)) {
    if (!NAMES.has(name)) throw new TypeError(`${quoted(name)} is not one of ${[...NAMES].join(", ")}`);
  }
  const { unit = "", direction, min, max, picture, description = "" } = given;
  if (typeof unit !== "string" || typeof description !== "string") {
    throw new TypeError("unit and description are texts");
  }
  if (direction !== undefined && !Object.hasOwn(DIRECTIONS, direction)) {
    throw new TypeError(`direction ${quoted(direction)} is neither "max" nor "min"`);
  }
  if (picture !== undefined && !Object.hasOwn(PICTURES, picture)) {
    throw new TypeError(`picture ${quoted(picture)} is not one of ${Object.keys(PICTURES).join(", ")}`);
  }
  for (const bound of [min, max]) {
    if (bound !== undefined && !Number.isFinite(bound)) throw new TypeError("min and max are finite numbers");
  }
  if (min !== undefined && max !== undefined && min >= max) throw new TypeError("min is not below max");
  const request = create(DescribeKeyRequestSchema, {
    description: {
      namespace,
      key,
      unit: unit.toWellFormed(),
      description: description.toWellFormed(),
      ...(direction !== undefined && { direction: DIRECTIONS[direction] }),
      ...(picture !== undefined && { picture: PICTURES[picture] }),
      ...(min !== undefined && { min }),
      ...(max !== undefined && { max }),
    },
  });
  return toBinary(DescribeKeyRequestSchema, request);
}
