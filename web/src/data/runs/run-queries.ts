import { queryOptions } from "@tanstack/react-query";
import { eachPage } from "#sdk/pages.ts";
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
      listAll(
        (pageToken) => cairn.metrics.listSeries({ run: { id }, pageSize: PAGE_SIZE, pageToken }, { signal }),
        ({ series }) => series,
      ),
  });

export const artifactsOfRun = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "artifacts"],
    queryFn: ({ signal }) =>
      listAll(
        (pageToken) =>
          cairn.artifacts.listArtifacts({ run: { id }, pageSize: PAGE_SIZE, pageToken }, { signal }),
        ({ artifacts }) => artifacts,
      ),
  });

export const linksOfRun = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "links"],
    queryFn: async ({ signal }) => {
      const request = { run: { id }, pageSize: LINKS_MAX, withRoles: true };
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

async function listAll<T, Page extends { nextPageToken: string }>(
  read: (pageToken: string) => Promise<Page>,
  itemsOf: (page: Page) => readonly T[],
): Promise<Listed<T>> {
  const items: T[] = [];
  for await (const page of eachPage(read)) {
    if (items.push(...itemsOf(page)) >= LISTED_MAX) return { items, hasMore: page.nextPageToken !== "" };
  }
  return { items, hasMore: false };
}
