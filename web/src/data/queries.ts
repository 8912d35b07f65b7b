import { QueryCache, QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { Code } from "@connectrpc/connect";
import { ownValue } from "#base/own-value.ts";
import type { BestRun, HeldObjective } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { Failure } from "#sdk/failure.ts";
import { listNamespaces } from "#sdk/pages.ts";
import { Backoff, isTransient } from "#sdk/retry.ts";
import { ReadPositions } from "./read-positions.ts";
import { cairn } from "./server.ts";
import { SHORT_ID_CANDIDATES } from "#sdk/run-facts.ts";
import { notifySignedOut } from "./signed-out.ts";

/** About three seconds: longer than most restarts. */
const RETRIES = 4;
const backoff = new Backoff();

const queryCache = new QueryCache({
  onError: (thrown) => {
    if (Failure.from(thrown).code === Code.Unauthenticated) notifySignedOut();
  },
});

export const readPositions = new ReadPositions(queryCache);

/** Answers are cached until a watched change invalidates them (see live.ts); there is no polling. */
export const queryClient = new QueryClient({
  queryCache,
  defaultOptions: {
    queries: {
      behavior: readPositions.behavior,
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (count, thrown) => {
        const failure = Failure.from(thrown);
        // After a timeout the user has waited long enough.
        return count < RETRIES && isTransient(failure) && failure.code !== Code.DeadlineExceeded;
      },
      retryDelay: (count, thrown) => backoff.after(count, Failure.from(thrown)),
    },
  },
});

export const whoAmI = queryOptions({
  queryKey: ["who-am-i"],
  queryFn: ({ signal }) => cairn.access.whoAmI({}, { signal }),
});

export const serverInfo = queryOptions({
  queryKey: ["info"],
  queryFn: ({ signal }) => cairn.system.getInfo({}, { signal }),
});

/** The namespaces that the caller may read, parents before children. */
export const namespaces = queryOptions({
  queryKey: ["namespaces"],
  queryFn: ({ signal }) => listNamespaces(cairn, {}, { signal }),
});

/** The best run of each namespace that has one, by path. Separate from the tree: it costs more and may be older. */
export const bestRuns = queryOptions({
  queryKey: ["best-runs"],
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, BestRun>> => {
    const all = await listNamespaces(cairn, { withBest: true }, { signal });
    return new Map(all.flatMap(({ path, best }) => (best === undefined ? [] : [[path, best]])));
  },
});

/** For a namespace that is not in the tree: it is newer. */
const objectiveAt = (path: string) =>
  queryOptions({
    queryKey: ["objective", path],
    queryFn: async ({ signal }): Promise<HeldObjective | null> => {
      const { objectives } = await cairn.namespaces.listObjectives({ namespaces: [path] }, { signal });
      return ownValue(objectives, path) ?? null;
    },
  });

/** The objective of a namespace; undefined if it has none, and until it is known. */
export function useObjective(path: string): HeldObjective | undefined {
  const { data: tree } = useQuery(namespaces);
  const listed = tree?.find((namespace) => namespace.path === path);
  const { data } = useQuery({
    ...objectiveAt(path),
    enabled: tree !== undefined && listed === undefined,
  });
  return listed === undefined ? (data ?? undefined) : listed.heldObjective;
}

export const runById = (id: string) =>
  queryOptions({
    queryKey: ["run", id],
    queryFn: ({ signal }) => cairn.runs.getRun({ run: { id } }, { signal }),
  });

/** Runs whose id begins with the text, newest first, also those in the trash: one more than is offered if there are more. */
export const runsByShortId = (id: string) =>
  queryOptions({
    queryKey: ["short-id", id],
    queryFn: async ({ signal }): Promise<Run[]> => {
      const request = {
        query: `id like "${id}%"`,
        columns: ["aliases"],
        pageSize: SHORT_ID_CANDIDATES + 1,
      };
      const [live, trashed] = await Promise.all([
        cairn.runs.searchRuns(request, { signal }),
        cairn.runs.searchRuns({ ...request, trashed: true }, { signal }),
      ]);
      return [...live.runs, ...trashed.runs].slice(0, SHORT_ID_CANDIDATES + 1);
    },
  });
