import type { MessageInitShape } from "@bufbuild/protobuf";
import { Picture, type KeyDescription, type KeyDescriptionSchema } from "#proto/cairn/v1/key_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";

/** The description of a key as it is typed. */
export interface KeyForm {
  unit: string;
  direction: "0" | "1" | "2";
  min: string;
  max: string;
  picture: "0" | "1" | "2";
  description: string;
}

/** Pictures of numbers over steps; the others are of files, and a user does not choose them. */
const CHOSEN_PICTURES: ReadonlySet<Picture> = new Set([Picture.UNSPECIFIED, Picture.LINE, Picture.ACCURACY]);

export function formOf(known: KeyDescription | undefined): KeyForm {
  const picture = known?.picture ?? Picture.UNSPECIFIED;
  return {
    unit: known?.unit ?? "",
    direction: String(known?.direction ?? Direction.UNSPECIFIED) as KeyForm["direction"],
    min: numberText(known?.min),
    max: numberText(known?.max),
    picture: (CHOSEN_PICTURES.has(picture) ? String(picture) : "0") as KeyForm["picture"],
    description: known?.description ?? "",
  };
}

function numberText(value: number | undefined): string {
  return value === undefined ? "" : String(value);
}

/** What is wrong with a typed range, by its field; nothing if it is valid. */
export function rangeFaults({ min, max }: Pick<KeyForm, "min" | "max">): { min?: string; max?: string } {
  const low = readNumber(min);
  const high = readNumber(max);
  return {
    ...(low === "invalid" && { min: "Not a number." }),
    ...(high === "invalid" && { max: "Not a number." }),
    ...(typeof low === "number" &&
      typeof high === "number" &&
      low >= high && { max: "Must be greater than the smallest value." }),
  };
}

/** What DescribeKey gets. A picture of another kind, which only programs set, is kept. */
export function descriptionOf(
  form: KeyForm,
  { namespace, key }: { namespace: string; key: string },
  known: KeyDescription | undefined,
): MessageInitShape<typeof KeyDescriptionSchema> {
  const min = readNumber(form.min);
  const max = readNumber(form.max);
  const others = known !== undefined && !CHOSEN_PICTURES.has(known.picture);
  return {
    namespace,
    key,
    unit: form.unit.trim(),
    direction: Number(form.direction) as Direction,
    picture: others ? known.picture : (Number(form.picture) as Picture),
    description: form.description.trim(),
    ...(typeof min === "number" && { min }),
    ...(typeof max === "number" && { max }),
  };
}

function readNumber(text: string): number | "none" | "invalid" {
  if (text.trim() === "") return "none";
  const number = Number(text);
  return Number.isFinite(number) ? number : "invalid";
}
