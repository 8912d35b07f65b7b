import { expect, it } from "vitest";
import type { Identity } from "#core/access/caller.ts";
import type { RunSearch } from "#core/ports/run-search.ts";
import { ADMIN, as, on, openAccess, type AccessUnderTest } from "../access-under-test.ts";
import { asked } from "../core-under-test.ts";
import type { StoresUnderTest } from "../stores.ts";

/** A store with a search that follows it. `discard` closes both. */
export type OpenSearched = () => Promise<StoresUnderTest & { search: RunSearch }>;

const NAMES = ["ada", "ben"];

export function twoCoresSearchContract(open: OpenSearched): void {
  const found = async ({ runs, namespaces }: AccessUnderTest, identity: Identity) => {
    const caller = as(identity, "read");
    const page = { pageSize: 0, pageToken: "" };
    const everything = { query: "", namespace: "", trashed: false, columns: [] };
    const searched = await runs.search(caller, { ...everything, ...page });
    const listed = await namespaces.list(caller, { under: "", ...page });
    return {
      runs: searched.runs.map(({ run }) => run.namespace),
      count: searched.totalCount,
      tallied: listed.namespaces.map(({ path, runCount }) => [path, runCount]),
    };
  };

  it("A20 callers of two cores with one search find, count and tally what each of them may read", async () => {
    const under = await open();
    const { search } = under;
    const [first, second] = [await openAccess(under, { search }), await openAccess(under, { search })];
    for (const name of NAMES) {
      await first.user(name);
      await first.bind(name, "viewer", on(`of-${name}`));
      await first.runs.create(ADMIN, asked({ namespace: `of-${name}` }));
    }
    // The callers come in another order at the other core.
    for (const { core, names } of [
      { core: first, names: NAMES },
      { core: second, names: NAMES.toReversed() },
    ]) {
      for (const name of names) {
        const { secret } = await core.token(name);
        const namespace = `of-${name}`;
        expect(await found(core, await core.access.identify(secret)), name).toEqual({
          runs: [namespace],
          count: 1,
          tallied: [[namespace, 1]],
        });
      }
    }
    await under.discard();
  });
}
