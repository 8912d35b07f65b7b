import type { CallOptions } from "@connectrpc/connect";
import { limits } from "#lang/limits.ts";
import type { Principal } from "#proto/cairn/v1/access_pb.ts";
import type { FieldInfo, FieldKind } from "#proto/cairn/v1/explore_pb.ts";
import type { KeyDescription } from "#proto/cairn/v1/key_pb.ts";
import type { HeldObjective, Namespace } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "./client.ts";

/** All pages of a list, one after the other. A page may be short, or even empty, although there are more. */
export async function* eachPage<Page extends { nextPageToken: string }>(
  read: (pageToken: string) => Promise<Page>,
): AsyncGenerator<Page> {
  for (let pageToken = ""; ;) {
    const page = await read(pageToken);
    yield page;
    if (page.nextPageToken === "") return;
    pageToken = page.nextPageToken;
  }
}

const PAGE = 1_000;

async function allPages<P extends { nextPageToken: string }, R>(
  read: (pageToken: string) => Promise<P>,
  rowsOf: (page: P) => readonly R[],
): Promise<R[]> {
  const all: R[] = [];
  for await (const page of eachPage(read)) all.push(...rowsOf(page));
  return all;
}

/** All definitions of metric keys in a namespace. */
export function listKeys(
  { metrics }: Pick<Cairn, "metrics">,
  namespace: string,
  options: CallOptions = {},
): Promise<KeyDescription[]> {
  return allPages(
    (pageToken) => metrics.listKeys({ namespace, pageToken }, options),
    ({ keys }) => keys,
  );
}

/** All namespaces that the caller may read, at and below `under`, parents before children. */
export function listNamespaces(
  { namespaces }: Pick<Cairn, "namespaces">,
  request: { under?: string; withBest?: boolean; trashed?: boolean } = {},
  options: CallOptions = {},
): Promise<Namespace[]> {
  return allPages(
    (pageToken) => namespaces.listNamespaces({ ...request, pageSize: PAGE, pageToken }, options),
    (page) => page.namespaces,
  );
}

/** All principals, for maintainers. */
export function listPrincipals(
  { access }: Pick<Cairn, "access">,
  options: CallOptions = {},
): Promise<Principal[]> {
  return allPages(
    (pageToken) => access.listPrincipals({ pageSize: PAGE, pageToken }, options),
    ({ principals }) => principals,
  );
}

/** As in ListFieldsRequest. */
export interface FieldSearch {
  runs: { query?: string; namespace?: string };
  kinds?: FieldKind[];
  find?: string;
  valuesMax?: number;
}

/** What ListFields answers, with the fields of all its pages. */
export interface ListedFields {
  fields: FieldInfo[];
  runCount: bigint;
  objective: HeldObjective | undefined;
}

/** The params, tags and metrics that runs have: all of them. */
export async function listFields(
  { explore }: Pick<Cairn, "explore">,
  request: FieldSearch,
  options: CallOptions = {},
): Promise<ListedFields> {
  const listed: ListedFields = { fields: [], runCount: 0n, objective: undefined };
  // Every page counts all fields again, so there are few of them.
  const asked = { ...request, pageSize: limits.pageSizeMax };
  for await (const page of eachPage((pageToken) => explore.listFields({ ...asked, pageToken }, options))) {
    listed.fields.push(...page.fields);
    listed.runCount = page.runCount;
    listed.objective = page.objective;
  }
  return listed;
}

/** As in SearchRunsRequest. */
export interface RunSearch {
  query?: string;
  namespace?: string;
  trashed?: boolean;
  columns?: string[];
  offset?: number;
  /** How many in all; Infinity for every run. */
  pageSize: number;
}

export interface FoundRuns {
  runs: Run[];
  /** All that match. */
  totalCount: bigint;
  /** A watch from there has every change of these runs. */
  position: string;
}

/** As many runs as `pageSize` asks for, where there are so many. `onPage` is called with how many there are so far, and in all. */
export async function searchRuns(
  { runs }: Pick<Cairn, "runs">,
  request: RunSearch,
  options: CallOptions = {},
  onPage?: (soFar: number, totalCount: bigint) => void,
): Promise<FoundRuns> {
  let found: FoundRuns | undefined;
  const pages = eachPage((pageToken) => {
    const pageSize = Math.min(request.pageSize - (found?.runs.length ?? 0), limits.pageSizeMax);
    const rest = pageToken === "" ? {} : { offset: 0 };
    return runs.searchRuns({ ...request, ...rest, pageSize, pageToken }, options);
  });
  for await (const page of pages) {
    found ??= { runs: [], totalCount: page.totalCount, position: page.position };
    found.runs.push(...page.runs);
    onPage?.(found.runs.length, page.totalCount);
    if (found.runs.length >= request.pageSize) break;
  }
  return found!;
}
