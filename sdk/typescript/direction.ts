import { Direction } from "#proto/cairn/v1/namespace_pb.ts";

/** The statistic that is the best value of a run; the last value where no direction is known. */
export function bestStat(direction: Direction | undefined): "min" | "max" | "last" {
  if (direction === Direction.MINIMIZE) return "min";
  return direction === Direction.MAXIMIZE ? "max" : "last";
}

/** "lower is better"; "" where no direction is known. */
export function betterWords(direction: Direction | undefined): string {
  const stat = bestStat(direction);
  return stat === "last" ? "" : `${stat === "min" ? "lower" : "higher"} is better`;
}
