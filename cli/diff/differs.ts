import type { CompareRunsResponse } from "#proto/cairn/v1/explore_pb.ts";
import { differs } from "#sdk/comparison.ts";

/** undefined when no difference was found, but not all metrics were compared. */
export function findDifference({
  parts,
  metrics,
  metricsTruncated,
}: CompareRunsResponse): boolean | undefined {
  const isFound = parts.some(({ rows }) => rows.some(differs)) || metrics.some((row) => row.differs);
  return isFound || !metricsTruncated ? isFound : undefined;
}
