import type { Clock } from "#base/clock.ts";
import { authorize, readableNamespaces, type Caller } from "../access/caller.ts";
import { CairnError, quote } from "../errors.ts";
import { limits } from "../limits.ts";
import { requireKey, requireText } from "../model/check.ts";
import type { Namespace, Objective } from "../model/namespace.ts";
import { isUnder, parseNamespace } from "../model/path.ts";
import type { NamespaceTally, RunSearch } from "../ports/run-search.ts";
import type { RunStore } from "../ports/run-store.ts";
import { pageSize } from "./runs.ts";

export interface CountedNamespace extends Namespace {
  runCount: number;
  subtreeRunCount: number;
  subtreeRunningCount: number;
  /** 0 when there is none. */
  lastActivityUs: number;
}

export class Namespaces {
  readonly #store: RunStore;
  readonly #search: RunSearch;
  readonly #clock: Clock;

  constructor(parts: { store: RunStore; search: RunSearch; clock: Clock }) {
    this.#store = parts.store;
    this.#search = parts.search;
    this.#clock = parts.clock;
  }

  async create(
    caller: Caller,
    request: { path: string; description: string; objective: Objective | undefined },
  ): Promise<CountedNamespace> {
    const path = parseNamespace(request.path);
    authorize(caller, path);
    const created = await this.#store.createNamespace({
      path,
      description: requireText(request.description, limits.descriptionBytesMax, "description"),
      objective: request.objective && requireObjective(request.objective),
      createdUs: this.#clock.nowUs(),
    });
    return count(created, []);
  }

  async get(caller: Caller, text: string): Promise<CountedNamespace> {
    const path = parseNamespace(text);
    authorize(caller, path);
    const found = await this.#store.findNamespace(path);
    if (found === undefined) throw new CairnError("not-found", `cannot find namespace ${quote(path)}`);
    return count(found, await this.#tally());
  }

  async list(
    caller: Caller,
    request: { under: string; pageSize: number; pageToken: string },
  ): Promise<{ namespaces: CountedNamespace[]; nextPageToken: string }> {
    const under = parseNamespace(request.under, { root: true });
    authorize(caller, under);
    const readable = readableNamespaces(caller);
    const limit = pageSize(request.pageSize);
    const after = request.pageToken === "" ? undefined : request.pageToken;
    // One more than asked for tells whether there is another page.
    const [found, tally] = await Promise.all([
      this.#store.listNamespaces({ under, after, limit: limit + 1 }),
      this.#tally(),
    ]);
    const page = found.slice(0, limit);
    const visible = readable === undefined ? page : page.filter(({ path }) => readable.has(path));
    return {
      namespaces: visible.map((namespace) => count(namespace, tally)),
      nextPageToken: found.length > limit ? page.at(-1)!.path : "",
    };
  }

  async update(
    caller: Caller,
    request: { path: string; description?: string; objective?: Objective | null },
  ): Promise<CountedNamespace> {
    const path = parseNamespace(request.path);
    authorize(caller, path);
    const { description, objective } = request;
    const updated = await this.#store.updateNamespace(path, {
      ...(description !== undefined && {
        description: requireText(description, limits.descriptionBytesMax, "description"),
      }),
      ...(objective !== undefined && { objective: objective && requireObjective(objective) }),
    });
    return count(updated, await this.#tally());
  }

  async delete(caller: Caller, text: string): Promise<void> {
    const path = parseNamespace(text);
    authorize(caller, path);
    await this.#store.deleteNamespace(path);
  }

  async #tally(): Promise<NamespaceTally[]> {
    return this.#search.tally(await this.#store.publish());
  }
}

function requireObjective(objective: Objective): Objective {
  requireKey(objective.metric, "objective metric");
  return objective;
}

function count(namespace: Namespace, tally: readonly NamespaceTally[]): CountedNamespace {
  const counted = {
    ...namespace,
    runCount: 0,
    subtreeRunCount: 0,
    subtreeRunningCount: 0,
    lastActivityUs: 0,
  };
  for (const { namespace: path, runs, running, lastActivityUs } of tally) {
    if (path === namespace.path) counted.runCount = runs;
    if (!isUnder(path, namespace.path)) continue;
    counted.subtreeRunCount += runs;
    counted.subtreeRunningCount += running;
    counted.lastActivityUs = Math.max(counted.lastActivityUs, lastActivityUs);
  }
  return counted;
}
