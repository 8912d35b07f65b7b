import type { CallOptions } from "@connectrpc/connect";
import type { KeyDescription } from "#proto/cairn/v1/metric_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "./client.ts";

/** A page ends early when its rows are large; these read on until they have what was asked for. */

/** What is said about metric keys in a namespace: all of it. */
export async function listKeys(
  { metrics }: Pick<Cairn, "metrics">,
  namespace: string,
  options: CallOptions = {},
): Promise<KeyDescription[]> {
  const all: KeyDescription[] = [];
  for (let pageToken = ""; ;) {
    const page = await metrics.listKeys({ namespace, pageToken }, options);
    all.push(...page.keys);
    if (page.nextPageToken === "") return all;
    pageToken = page.nextPageToken;
  }
}

/** As in SearchRunsRequest. */
export interface RunSearch {
  query?: string;
  namespace?: string;
  trashed?: boolean;
  columns?: string[];
  offset?: number;
  pageSize: number;
}

/** As many runs as `pageSize` asks for, where there are so many. */
export async function searchRuns(
  { runs }: Pick<Cairn, "runs">,
  request: RunSearch,
  options: CallOptions = {},
): Promise<{ runs: Run[]; totalCount: bigint }> {
  const first = await runs.searchRuns(request, options);
  const found = first.runs;
  for (let pageToken = first.nextPageToken; pageToken !== "" && found.length < request.pageSize;) {
    const rest = { offset: 0, pageSize: request.pageSize - found.length, pageToken };
    const page = await runs.searchRuns({ ...request, ...rest }, options);
    found.push(...page.runs);
    pageToken = page.nextPageToken;
  }
  return { runs: found, totalCount: first.totalCount };
}
