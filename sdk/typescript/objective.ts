import type { Cairn } from "./client.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";

const DIRECTIONS = { max: Direction.MAXIMIZE, min: Direction.MINIMIZE } as const;

/**
 * Says by which metric the runs of a namespace are judged, there and below it. Needs the role maintainer. Throws what calls
 * throw: `Failure.from` explains it.
 */
export async function setObjective(
  cairn: Cairn,
  namespace: string,
  { metric, direction }: { metric: string; direction: keyof typeof DIRECTIONS },
): Promise<void> {
  if (!Object.hasOwn(DIRECTIONS, direction)) {
    throw new TypeError(`cannot use direction "${direction as string}": it is neither "max" nor "min"`);
  }
  await cairn.namespaces.updateNamespace({
    path: namespace,
    objective: { metric, direction: DIRECTIONS[direction] },
  });
}
