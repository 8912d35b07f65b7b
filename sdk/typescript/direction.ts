import { Direction } from "#proto/cairn/v1/namespace_pb.ts";

/** The statistic that is the best value of a run; the last value where no direction is known. */
export function bestStat(direction: Direction | undefined): "min" | "max" | "last" {
  if (direction === Direction.MINIMIZE) return "min";
  return direction === Direction.MAXIMIZE ? "max" : "last";
}
