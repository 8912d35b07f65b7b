import type { CallOptions } from "@connectrpc/connect";
import { limits } from "#lang/limits.ts";
import type { Principal } from "#proto/cairn/v1/access_pb.ts";
import type { FieldInfo, FieldKind } from "#proto/cairn/v1/explore_pb.ts";
import type { KeyDescription } from "#proto/cairn/v1/key_pb.ts";
import type { HeldObjective, Namespace } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "./client.ts";

/** A page ends early when its rows are large; these read on until they have what was asked for. */

const PAGE = 1_000;

async function allPages<P extends { nextPageToken: string }, R>(
  read: (pageToken: string) => Promise<P>,
  rowsOf: (page: P) => readonly R[],
): Promise<R[]> {
  const all: R[] = [];
  for (let pageToken = ""; ;) {
    const page = await read(pageToken);
    all.push(...rowsOf(page));
    if (page.nextPageToken === "") return all;
    pageToken = page.nextPageToken;
  }
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
  const fields: FieldInfo[] = [];
  for (let pageToken = ""; ;) {
    // Every page counts all fields again, so there are few of them.
    const page = await explore.listFields({ ...request, pageSize: limits.pageSizeMax, pageToken }, options);
    fields.push(...page.fields);
    if (page.nextPageToken === "") return { fields, runCount: page.runCount, objective: page.objective };
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

/** As many runs as `pageSize` asks for, where there are so many, and the position from which a watch has every change of them. */
export async function searchRuns(
  { runs }: Pick<Cairn, "runs">,
  request: RunSearch,
  options: CallOptions = {},
): Promise<{ runs: Run[]; totalCount: bigint; position: string }> {
  const first = await runs.searchRuns(request, options);
  const found = first.runs;
  for (let pageToken = first.nextPageToken; pageToken !== "" && found.length < request.pageSize;) {
    const rest = { offset: 0, pageSize: request.pageSize - found.length, pageToken };
    const page = await runs.searchRuns({ ...request, ...rest }, options);
    found.push(...page.runs);
    pageToken = page.nextPageToken;
  }
  return { runs: found, totalCount: first.totalCount, position: first.position };
}
