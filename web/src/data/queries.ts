import { QueryCache, QueryClient, queryOptions } from "@tanstack/react-query";
import { Code } from "@connectrpc/connect";
import type { Namespace } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { Failure } from "#sdk/failure.ts";
import { Backoff, isTransient } from "#sdk/retry.ts";
import { AskedTimes } from "./asked.ts";
import { cairn } from "./server.ts";
import { SHORT_ID_CANDIDATES } from "./short-id.ts";
import { tellSignedOut } from "./signed-out.ts";

/** About three seconds: longer than most restarts. */
const RETRIES = 4;
const backoff = new Backoff();
const NAMESPACES_MAX = 10_000;

/** Answers are kept until something that is watched says otherwise (see live.ts); nothing is asked by the clock. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (thrown) => {
      if (Failure.from(thrown).code === Code.Unauthenticated) tellSignedOut();
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (count, thrown) => {
        const failure = Failure.from(thrown);
        // After an answer that did not come in time, somebody has waited long enough.
        return count < RETRIES && isTransient(failure) && failure.code !== Code.DeadlineExceeded;
      },
      retryDelay: (count, thrown) => backoff.after(count, Failure.from(thrown)),
    },
  },
});

export const askedTimes = new AskedTimes(queryClient);

export const whoAmI = queryOptions({
  queryKey: ["who-am-i"],
  queryFn: ({ signal }) => cairn.access.whoAmI({}, { signal }),
});

export const serverInfo = queryOptions({
  queryKey: ["info"],
  queryFn: ({ signal }) => cairn.system.getInfo({}, { signal }),
});

/** The whole tree the caller may read, parents before children; the first ten thousand of it. */
export const namespaces = queryOptions({
  queryKey: ["namespaces"],
  queryFn: async ({ signal }) => {
    const all: Namespace[] = [];
    let pageToken = "";
    do {
      const page = await cairn.namespaces.listNamespaces({ pageSize: 1_000, pageToken }, { signal });
      all.push(...page.namespaces);
      pageToken = page.nextPageToken;
    } while (pageToken !== "" && all.length < NAMESPACES_MAX);
    return all;
  },
});

export const runById = (id: string) =>
  queryOptions({
    queryKey: ["run", id],
    queryFn: ({ signal }) => cairn.runs.getRun({ run: { id } }, { signal }),
  });

/** Runs whose id begins so, the newest first, also those in the trash: one more than are offered when there are more. */
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
