import type { Caller } from "#core/access/caller.ts";
import type { Source } from "#core/lineage/lineage.ts";
import type { RunRef } from "#lang/run-ref.ts";
import { asked, buildCore, CALLER } from "../core-under-test.ts";
import type { StoresUnderTest } from "../stores.ts";

/** Short ways to make runs and links, for the suites of core's lineage. */
export const PAGE = { artifact: undefined, pageSize: 0, pageToken: "" };
export const byId = (id: string): RunRef => ({ by: "id", id });
export const anything = (id: string, artifact = "") => ({ by: "id", id, artifact }) as const;
export const aRun = (id: string, artifact = "") => ({ by: "run", run: byId(id), artifact }) as const;
export const plain = ({ runId, externalId, artifact, hidden }: Source) => [
  runId,
  externalId,
  artifact,
  hidden,
];

export async function buildLineage(under: StoresUnderTest) {
  const core = await buildCore(under);
  return {
    ...core,
    make: async (namespace = "lab", aliases: string[] = []) =>
      (await core.runs.create(CALLER, asked({ namespace, aliases }))).run.id,
    sources: async (caller: Caller, id: string, page: object = {}) =>
      (await core.lineage.listSources(caller, byId(id), { ...PAGE, ...page })).sources,
    children: async (caller: Caller, id: string, page: object = {}) =>
      (await core.lineage.listChildren(caller, { by: "id", id }, { ...PAGE, ...page })).children,
  };
}
