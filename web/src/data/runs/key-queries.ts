import { queryOptions } from "@tanstack/react-query";
import { compareNames } from "#lang/words/names.ts";
import { listFields } from "#sdk/pages.ts";
import { cairn } from "../server.ts";
import { keysOf, type KnownKeys } from "./known-keys.ts";

const STALE_MS = 60_000;
/** Environments are not in the index and can be long, so only those of the newest runs are read. */
export const ENVIRONMENT_RUNS = 12;
const ENVIRONMENT_KEYS_MAX = 5_000;

/** The keys of all runs in a namespace and below it. */
export const knownKeys = (namespace: string) =>
  queryOptions({
    queryKey: ["known-keys", namespace],
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<KnownKeys> => {
      const [listed] = await Promise.all([
        listFields(cairn, { runs: { namespace } }, { signal }),
        // ListFields finds nothing in a namespace that does not exist; this fails.
        namespace === "" ? undefined : cairn.namespaces.getNamespace({ path: namespace }, { signal }),
      ]);
      return keysOf(listed);
    },
  });

/** Names of environment variables that the newest runs recorded. */
export const environmentKeys = (namespace: string) =>
  queryOptions({
    queryKey: ["environment-keys", namespace],
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<string[]> => {
      const { runs } = await cairn.runs.searchRuns(
        { namespace, pageSize: ENVIRONMENT_RUNS, columns: ["provenance"] },
        { signal },
      );
      const keys = new Set(runs.flatMap(({ provenance }) => Object.keys(provenance?.environment ?? {})));
      return [...keys].toSorted(compareNames).slice(0, ENVIRONMENT_KEYS_MAX);
    },
  });
