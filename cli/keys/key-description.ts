import { wordOf } from "#lang/words/enums.ts";
import { formatNumber } from "#lang/words/numbers.ts";
import { Picture, type KeyDescription } from "#proto/cairn/v1/key_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";

/** Words of the command line for which direction of a metric is better. */
export const DIRECTION_WORDS = { max: Direction.MAXIMIZE, min: Direction.MINIMIZE } as const;

/** As they are written after --picture: "confusion-matrix". */
export const PICTURE_WORDS: readonly string[] = Object.values(Picture)
  .filter((value) => value !== Picture.UNSPECIFIED)
  .map(pictureWord);

export function pictureWord(picture: number): string {
  return picture === Picture.UNSPECIFIED ? "" : wordOf(Picture, picture).replaceAll(" ", "-");
}

/** "0 … 1"; a side that is open has no number. */
export function rangeWords({ min, max }: Pick<KeyDescription, "min" | "max">): string {
  if (min === undefined && max === undefined) return "";
  return [min, max]
    .map((end) => (end === undefined ? "" : formatNumber(end)))
    .join(" … ")
    .trim();
}

export function jsonKey(key: KeyDescription): Record<string, unknown> {
  const { namespace, key: name, unit, direction, description, picture, min, max } = key;
  return {
    key: name,
    namespace,
    unit: unit || null,
    direction: direction === Direction.UNSPECIFIED ? null : wordOf(Direction, direction),
    min: min ?? null,
    max: max ?? null,
    picture: pictureWord(picture) || null,
    description: description || null,
  };
}
