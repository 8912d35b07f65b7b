import type { Clock } from "#base/clock.ts";
import { auditRecord } from "../access/audit/audit-record.ts";
import { authorize, authorizeCall, maySee, type Caller } from "../access/caller.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { requireAtMost, requireKey, requireTags, requireText } from "../types/check.ts";
import type { Namespace, NamespaceRef, Objective } from "../types/namespace.ts";
import type { Tags } from "../types/run.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import type { Follower } from "../journal/follower.ts";
import type { RunSearch } from "../ports/run-search.ts";
import type { NamespaceChange, NamespaceStore } from "../ports/namespace-store.ts";
import type { RunStore } from "../ports/run-store.ts";
import { fillPage } from "../lists/fill-page.ts";
import { pageSize } from "../lists/page-size.ts";
import { findBestRuns } from "../objective/best-runs.ts";
import type { Objectives } from "../objective/objectives.ts";
import type { CapturePolicies } from "./capture-policies.ts";
import { type CountedNamespace, NamespaceTree } from "./namespace-tree.ts";

/** How many namespaces are read at once to find those the caller may see. */
const LOOKED_AT_ONCE = 1_000;

export class Namespaces {
  readonly #store: NamespaceStore;
  readonly #runs: RunStore;
  readonly #search: RunSearch;
  readonly #clock: Clock;
  readonly #captures: CapturePolicies;
  readonly #objectives: Objectives;
  readonly #follower: Follower;

  constructor(parts: {
    store: NamespaceStore;
    runs: RunStore;
    search: RunSearch;
    clock: Clock;
    captures: CapturePolicies;
    objectives: Objectives;
    follower: Follower;
  }) {
    this.#follower = parts.follower;
    this.#store = parts.store;
    this.#runs = parts.runs;
    this.#search = parts.search;
    this.#clock = parts.clock;
    this.#captures = parts.captures;
    this.#objectives = parts.objectives;
  }

  async create(
    caller: Caller,
    request: { path: string; description: string; objective: Objective | undefined; tags?: Tags },
  ): Promise<CountedNamespace> {
    const path = parseNamespace(request.path);
    authorize(caller, { namespace: path });
    const createdUs = this.#clock.nowUs();
    const namespace = {
      path,
      description: requireText(request.description, limits.descriptionBytesMax, "description"),
      objective: request.objective && requireObjective(request.objective),
      tags: requireTags(request.tags ?? new Map()),
      createdUs,
    };
    const audit = auditRecord(caller, createdUs, "create-namespace", path);
    const created = await this.#store.createNamespace(namespace, audit);
    return this.#judged(caller, this.#view(new NamespaceTree(undefined, []), created));
  }

  /** `withBest` also finds the run with the best value, here and in `list`. */
  async get(caller: Caller, asked: NamespaceRef, { withBest = false } = {}): Promise<CountedNamespace> {
    authorizeCall(caller);
    const ref = typeof asked === "number" ? requireId(asked) : parseNamespace(asked);
    const tree = await this.#tree(caller);
    // Before the store is read: else a hidden one would take longer than a missing one. By an id it is read for both.
    if (typeof ref === "string" && !tree.shows(ref)) throw missing(ref);
    const found = await this.#store.findNamespace(ref);
    if (found === undefined || !tree.shows(found.path)) throw missing(ref);
    const { path } = found;
    const view = this.#view(tree, found);
    // Of an ancestor of readable namespaces only the path may be seen.
    if (typeof ref === "number" && view.id !== ref) throw missing(ref);
    if (maySee(caller, { namespace: path })) authorize(caller, { namespace: path });
    return this.#judged(caller, view, withBest);
  }

  async list(
    caller: Caller,
    request: {
      under: string;
      pageSize: number;
      pageToken: string;
      withBest?: boolean;
      /** Those in the trash, instead of the others. */
      trashed?: boolean;
    },
  ): Promise<{ namespaces: CountedNamespace[]; nextPageToken: string }> {
    authorizeCall(caller);
    const under = parseNamespace(request.under, { root: true });
    const limit = pageSize(request.pageSize);
    const after = request.pageToken === "" ? undefined : request.pageToken;
    const { trashed = false } = request;
    const tree = await this.#tree(caller);
    // Pages are cut after hidden namespaces are left out: no token names them, no page is short because of them.
    const { items, last } = await fillPage<Namespace, CountedNamespace>(
      limit,
      (looked, bound) => {
        const some = tree.isWhole ? bound.limit : Math.max(bound.limit, LOOKED_AT_ONCE);
        const place = { under, after: looked?.path ?? after, trashed };
        return this.#store.listNamespaces({ ...place, ...bound, limit: some });
      },
      (namespace) => {
        const { path } = namespace;
        return (trashed ? tree.reads(path) : tree.shows(path)) ? this.#view(tree, namespace) : undefined;
      },
    );
    const namespaces = await this.#allJudged(caller, items, request.withBest);
    return { namespaces, nextPageToken: last?.path ?? "" };
  }

  async update(caller: Caller, request: { path: string } & NamespaceChange): Promise<CountedNamespace> {
    const path = parseNamespace(request.path);
    await requireSeen(this.#store, caller, path);
    const { description, objective, tags, removeTags, forbidsConsole, forbidsCode } = request;
    requireAtMost(removeTags?.length ?? 0, limits.tagsPerRunMax, "tags to remove");
    const captures = forbidsConsole !== undefined || forbidsCode !== undefined;
    // A maintainer of a namespace may not lift what an administrator has forbidden.
    if (captures) authorize({ ...caller, permission: "administer" }, { namespace: path });
    const change = {
      ...(description !== undefined && {
        description: requireText(description, limits.descriptionBytesMax, "description"),
      }),
      ...(objective !== undefined && { objective: objective && requireObjective(objective) }),
      ...(tags !== undefined && { tags: requireTags(tags) }),
      ...(removeTags !== undefined && { removeTags }),
      ...(forbidsConsole !== undefined && { forbidsConsole }),
      ...(forbidsCode !== undefined && { forbidsCode }),
    };
    const action = captures ? "set-capture-policy" : "update-namespace";
    const audit = auditRecord(caller, this.#clock.nowUs(), action, path, {
      fields: Object.keys(change).join(" "),
      ...(forbidsConsole !== undefined && { console: allowance(forbidsConsole) }),
      ...(forbidsCode !== undefined && { code: allowance(forbidsCode) }),
    });
    const updated = await this.#store.updateNamespace(path, change, audit);
    await this.#follower.catchUp();
    return this.#judged(caller, this.#view(await this.#tree(caller), updated));
  }

  #view(tree: NamespaceTree, namespace: Namespace): CountedNamespace {
    return tree.view(namespace, this.#captures.forbiddenIn(namespace.path));
  }

  async #judged(caller: Caller, namespace: CountedNamespace, withBest = false): Promise<CountedNamespace> {
    return (await this.#allJudged(caller, [namespace], withBest))[0]!;
  }

  /** With the objective that holds in each. */
  async #allJudged(
    caller: Caller,
    namespaces: readonly CountedNamespace[],
    withBest = false,
  ): Promise<CountedNamespace[]> {
    const held = await this.#objectives.holding(
      caller,
      namespaces.map(({ path }) => path),
    );
    const parts = { store: this.#runs, search: this.#search };
    const best = withBest && held.size > 0 ? await findBestRuns(parts, caller, held) : undefined;
    return namespaces.map((namespace) => ({
      ...namespace,
      held: held.get(namespace.path),
      best: best?.get(namespace.path),
    }));
  }

  async #tree(caller: Caller): Promise<NamespaceTree> {
    const mask = caller.rights.readable();
    return new NamespaceTree(mask, await this.#search.tally(mask));
  }
}

/**
 * What the caller may not see it can neither change nor know to be there. Asked before anything else of the request is
 * looked at, and of the store in both cases: neither what is refused first nor how long it takes tells them apart.
 */
export async function requireSeen(store: NamespaceStore, caller: Caller, path: string): Promise<Namespace> {
  authorizeCall(caller);
  const found = await store.findNamespace(path);
  if (found === undefined || !maySee(caller, { namespace: path })) throw missing(path);
  authorize(caller, { namespace: path });
  return found;
}

function missing(ref: NamespaceRef): CairnError {
  const name = typeof ref === "number" ? `with id "${ref}"` : quote(ref);
  return new CairnError("not-found", `cannot find namespace ${name}`);
}

function requireId(id: number): number {
  if (Number.isSafeInteger(id) && id > 0) return id;
  throw new CairnError("invalid", `cannot use namespace id "${id}": ids are whole numbers from 1 on`);
}

function allowance(forbids: boolean): string {
  return forbids ? "forbidden" : "allowed";
}

function requireObjective(objective: Objective): Objective {
  requireKey(objective.metric, "objective metric");
  return objective;
}
