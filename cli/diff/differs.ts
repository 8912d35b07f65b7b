import type { CompareRunsResponse } from "#proto/cairn/v1/explore_pb.ts";
import { diffRows } from "./diff-rows.ts";

/** undefined when no difference was found, but not all metrics were compared. */
export function findDifference({
  parts,
  metrics,
  metricsTruncated,
}: CompareRunsResponse): boolean | undefined {
  const isFound = [...parts.flatMap(diffRows), ...metrics].some(({ differs }) => differs);
  return isFound || !metricsTruncated ? isFound : undefined;
}
