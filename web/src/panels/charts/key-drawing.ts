import { Picture, type KeyDescription } from "#proto/cairn/v1/key_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";

export interface KeyDrawing {
  unit: string;
  /** The range that y always includes; an end that is not described is infinite and includes nothing. */
  fixedY: readonly [number, number] | undefined;
  /** Of a tooltip: the best value first. */
  order: "rising" | "falling";
  direction: Direction;
  /** What it means, in words of users; empty for none. */
  about: string;
}

/** How a key is drawn, from its description. */
export function drawingOf(description: KeyDescription | undefined): KeyDrawing {
  const direction = description?.direction ?? Direction.UNSPECIFIED;
  return {
    unit: description?.unit ?? "",
    fixedY: rangeOf(description),
    order: direction === Direction.MINIMIZE ? "rising" : "falling",
    direction,
    about: description?.description ?? "",
  };
}

function rangeOf(description: KeyDescription | undefined): readonly [number, number] | undefined {
  if (description === undefined) return undefined;
  const { min, max, picture } = description;
  const isShare = picture === Picture.ACCURACY;
  const low = min ?? (isShare ? 0 : Infinity);
  const high = max ?? (isShare ? 1 : -Infinity);
  return low === Infinity && high === -Infinity ? undefined : [low, high];
}
