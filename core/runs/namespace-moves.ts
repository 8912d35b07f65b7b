import type { Clock } from "#base/clock.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { isUnder, parseNamespace } from "#lang/namespace-path.ts";
import type { Access } from "../access/access.ts";
import { auditRecord } from "../access/audit/audit-record.ts";
import type { Caller } from "../access/caller.ts";
import type { Follower } from "../journal/follower.ts";
import type { NamespaceStore } from "../ports/namespace-store.ts";
import type { RunSearch, SearchRequest } from "../ports/run-search.ts";
import type { CapturePolicies } from "./capture-policies.ts";
import { requireSeen } from "./namespaces.ts";
import type { Runs } from "./runs.ts";
import { requireFree } from "./trash-refusal.ts";

const NO_RUNS = {
  query: { where: undefined, orderBy: [] },
  readable: undefined,
  only: [],
  under: "",
  trashed: false,
  limit: 0,
  after: undefined,
  metrics: [],
} satisfies SearchRequest;

export interface MovedNamespace {
  id: number;
  from: string;
  to: string;
}

export interface NamespaceMovesParts {
  store: NamespaceStore;
  runs: Pick<Runs, "forgetPlaces">;
  search: Pick<RunSearch, "search">;
  access: Pick<Access, "moveNamespace">;
  captures: CapturePolicies;
  clock: Clock;
  follower: Follower;
}

/** Namespaces that get another path, with all that is in them. */
export class NamespaceMoves {
  readonly #parts: NamespaceMovesParts;

  constructor(parts: NamespaceMovesParts) {
    this.#parts = parts;
  }

  /**
   * Renaming a namespace is moving it beside itself. It and everything below keep their ids and all they have, also what
   * is bound and closed on them, and tokens that are limited to them. From then on everything is judged by the new path: at once
   * in this process, in others within a second, and by the store for every envelope.
   */
  async move(caller: Caller, path: string, target: string): Promise<MovedNamespace> {
    const { store, access, captures, clock, follower } = this.#parts;
    const [from, to] = [parseNamespace(path), parseNamespace(target)];
    const { id } = await requireSeen(store, caller, from);
    if (from === to) return { id, from, to };
    if (isUnder(to, from)) {
      throw new CairnError(
        "invalid",
        `cannot move namespace ${quote(from)} to ${quote(to)}: that is inside it`,
      );
    }
    const nowUs = clock.nowUs();
    const audit = auditRecord(caller, nowUs, "move-namespace", from, { from, to });
    const moved = await access.moveNamespace(caller, from, to, {
      check: async () => {
        requireMayForbid(captures, caller, from, "move");
        // Nothing of a namespace that is there may change, not even while the store refuses the move.
        const there = await store.findNamespace(to);
        requireFree(`cannot move namespace ${quote(from)} to ${quote(to)}: that`, there);
      },
      write: (accessAt) =>
        this.#write(from, to, () => store.moveNamespace(from, { to, accessAt }, nowUs, audit)),
    });
    await follower.catchUp();
    return { id: moved.id, from, to };
  }

  async #write<T>(from: string, to: string, write: () => Promise<T | undefined>): Promise<T | undefined> {
    const { search, captures, clock, runs } = this.#parts;
    const { release } = captures.forbidAtBoth(from, to);
    try {
      // Searches take turns: those that were asked with the rights from before have been answered then.
      await search.search({ ...NO_RUNS, nowUs: clock.nowUs() });
      return await write();
    } finally {
      runs.forgetPlaces();
      // Where they cannot be read now, the follower does it.
      await release().catch(() => undefined);
    }
  }
}

/** Where the path is free again a new namespace would allow everything: throws unless the caller administers what forbids something. */
export function requireMayForbid(
  captures: CapturePolicies,
  caller: Caller,
  path: string,
  verb: string,
): void {
  for (const namespace of captures.within(path)) {
    if (caller.rights.may("administer", { namespace })) continue;
    throw new CairnError(
      "forbidden",
      `cannot ${verb} namespace ${quote(path)}: something may not be captured in it`,
      { reason: "NO_RIGHT", hint: "ask an administrator of everything in it" },
    );
  }
}
