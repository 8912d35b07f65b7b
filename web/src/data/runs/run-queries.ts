import { queryOptions } from "@tanstack/react-query";
import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { SeriesInfo } from "#proto/cairn/v1/metric_pb.ts";
import { cairn } from "../server.ts";

const PAGE_SIZE = 10_000;
/** More than a user scrolls through; the page shows when there are more. */
const LISTED_MAX = 50_000;
const LINKS_MAX = 200;
const LINEAGE_DEPTH = 6;

export interface Listed<T> {
  items: readonly T[];
  hasMore: boolean;
}

export const seriesOfRun = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "series"],
    queryFn: ({ signal }) =>
      listAll<SeriesInfo>(async (pageToken) => {
        const page = await cairn.metrics.listSeries(
          { run: { id }, pageSize: PAGE_SIZE, pageToken },
          { signal },
        );
        return { items: page.series, nextPageToken: page.nextPageToken };
      }),
  });

export const artifactsOfRun = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "artifacts"],
    queryFn: ({ signal }) =>
      listAll<Artifact>(async (pageToken) => {
        const page = await cairn.artifacts.listArtifacts(
          { run: { id }, pageSize: PAGE_SIZE, pageToken },
          { signal },
        );
        return { items: page.artifacts, nextPageToken: page.nextPageToken };
      }),
  });

export const linksOfRun = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "links"],
    queryFn: async ({ signal }) => {
      const request = { run: { id }, pageSize: LINKS_MAX };
      const [sources, children] = await Promise.all([
        cairn.lineage.listSources(request, { signal }),
        cairn.lineage.listChildren(request, { signal }),
      ]);
      return {
        sources: sources.sources,
        children: children.children,
        hasMore: sources.nextPageToken !== "" || children.nextPageToken !== "",
      };
    },
  });

export const lineageOfRun = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "lineage"],
    queryFn: ({ signal }) => cairn.lineage.getLineage({ run: { id }, depth: LINEAGE_DEPTH }, { signal }),
  });

async function listAll<T>(
  read: (pageToken: string) => Promise<{ items: readonly T[]; nextPageToken: string }>,
): Promise<Listed<T>> {
  const items: T[] = [];
  let token = "";
  do {
    const page = await read(token);
    items.push(...page.items);
    token = page.nextPageToken;
  } while (token !== "" && items.length < LISTED_MAX);
  return { items, hasMore: token !== "" };
}
