import type { Clock } from "#base/clock.ts";
import { limits } from "#lang/limits.ts";
import { ancestors, parseNamespace } from "#lang/namespace-path.ts";
import { auditRecord } from "../access/audit/audit-record.ts";
import { authorize, authorizeCall, maySee, type Caller } from "../access/caller.ts";
import { fillPage } from "../lists/fill-page.ts";
import { pageSize } from "../lists/page-size.ts";
import type { ListPart } from "../ports/list-part.ts";
import type { NamespaceStore } from "../ports/namespace-store.ts";
import { requireKeyDescription } from "../types/key-description.ts";
import type { KeyDescription } from "../types/namespace.ts";
import type { HeldObjective, Objectives } from "./objectives.ts";

/** What metrics mean in a namespace. */
export interface MetricMeaning {
  /** As MetricKeys.list answers. */
  readonly described: ReadonlyMap<string, KeyDescription>;
  readonly objective: HeldObjective | undefined;
}

/** More than fit into an answer. */
const KEYS_MAX = limits.pageBytesMax;

/** Descriptions of metric keys, and which direction of a metric is better. */
export class MetricKeys {
  readonly #store: NamespaceStore;
  readonly #objectives: Objectives;
  readonly #clock: Clock;

  constructor(parts: { store: NamespaceStore; objectives: Objectives; clock: Clock }) {
    this.#store = parts.store;
    this.#objectives = parts.objectives;
    this.#clock = parts.clock;
  }

  /** `onlyIfAbsent` fills in what the description that applies in the namespace, as far as the caller may read it, does not say. */
  async describe(
    caller: Caller,
    description: KeyDescription,
    { onlyIfAbsent = false }: { onlyIfAbsent?: boolean } = {},
  ): Promise<KeyDescription> {
    const namespace = parseNamespace(description.namespace);
    authorize(caller, { namespace });
    requireKeyDescription(description);
    const facts = { key: description.key };
    const audit = auditRecord(caller, this.#clock.nowUs(), "describe-key", namespace, facts);
    const absentIn = onlyIfAbsent ? readablePath(caller, namespace) : undefined;
    return this.#store.describeKey(description, audit, absentIn);
  }

  /**
   * With the direction that applies in the namespace, also of an objective without a description. A page size of 0
   * returns all that fit into one answer. A namespace that the caller may not read has the same as a missing one: what
   * applies in the namespaces above it that the caller may read.
   */
  async list(
    caller: Caller,
    request: { namespace: string; pageSize: number; pageToken: string },
  ): Promise<{ keys: KeyDescription[]; nextPageToken: string }> {
    const namespace = parseNamespace(request.namespace);
    authorizeCall(caller);
    const objective = await this.#objectives.of(caller, namespace);
    return this.#list(caller, namespace, objective, request);
  }

  async meaningIn(caller: Caller, namespace: string): Promise<MetricMeaning> {
    const objective = await this.#objectives.of(caller, namespace);
    const { keys } = await this.#list(caller, namespace, objective, { pageSize: 0, pageToken: "" });
    return { described: new Map(keys.map((description) => [description.key, description])), objective };
  }

  async #list(
    caller: Caller,
    namespace: string,
    objective: HeldObjective | undefined,
    request: { pageSize: number; pageToken: string },
  ): Promise<{ keys: KeyDescription[]; nextPageToken: string }> {
    const readable = readablePath(caller, namespace);
    const { items, last } = await fillPage<KeyDescription, KeyDescription>(
      request.pageSize === 0 ? KEYS_MAX : pageSize(request.pageSize),
      async (looked, bound) => {
        const after = looked?.key ?? request.pageToken;
        const part = await this.#store.listKeys(readable, { after, ...bound });
        return objective === undefined ? part : withObjective(part, after, objective);
      },
      (described) => described,
    );
    return { keys: items, nextPageToken: last?.key ?? "" };
  }
}

function readablePath(caller: Caller, namespace: string): string[] {
  return [...ancestors(namespace), namespace].filter((path) => maySee(caller, { namespace: path }));
}

/**
 * The rule for which direction of a metric is better: that of the objective which applies, if it is about this metric,
 * else that of the description. The objective is inserted in its place where it has no description.
 */
function withObjective(
  { rows, more }: ListPart<KeyDescription>,
  after: string,
  { metric, direction, namespace }: HeldObjective,
): ListPart<KeyDescription> {
  const place = rows.findIndex(({ key }) => compareKeys(key, metric) >= 0);
  if (place < 0 && more) return { rows, more };
  if (rows[place]?.key === metric) return { rows: rows.with(place, { ...rows[place], direction }), more };
  if (compareKeys(metric, after) <= 0) return { rows, more };
  const added = { namespace, key: metric, unit: "", direction, description: "", picture: undefined };
  return { rows: rows.toSpliced(place < 0 ? rows.length : place, 0, added), more };
}

/** The order of NamespaceStore.listKeys. */
function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
