import type { Clock } from "#base/clock.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import type { Access } from "../access/access.ts";
import { auditRecord } from "../access/audit/audit-record.ts";
import { authorize, maySee, type Caller } from "../access/caller.ts";
import type { Follower } from "../journal/follower.ts";
import type { AuditRecord } from "../ports/access-store.ts";
import type { NamespaceStore } from "../ports/namespace-store.ts";
import type { Host, PointStore } from "../ports/point-store.ts";
import type { RunStore } from "../ports/run-store.ts";
import { requireMatchers } from "../types/matchers.ts";
import type { CapturePolicies } from "./capture-policies.ts";
import { requireMayForbid } from "./namespace-moves.ts";
import { requireSeen } from "./namespaces.ts";
import { NAMESPACE_DELETED, notInTrash } from "./trash-refusal.ts";

/** What one call destroys at most, but for the series of a run or a host. */
const RUNS_AT_ONCE = 500;
const HOSTS_AT_ONCE = 100;
const NAMESPACES_AT_ONCE = 1_000;
/** Runs that share a commit. */
const RUNS_TOGETHER = 50;
/** After this time a call begins nothing more: clients wait for 30 s. */
const PART_US = 5_000_000;
const SERIES_AT_ONCE = { pointsMax: 2_000_000, seriesMax: 1_000 };
const EVERY_SERIES = requireMatchers([{ label: "", op: "=~", value: ".*" }]);

export interface PurgedPart {
  runs: number;
  hosts: number;
  namespaces: number;
  points: number;
  /** Nothing of it is left. */
  done: boolean;
}

/** What one call has destroyed so far, and whether it may destroy more. */
interface Purge {
  part: PurgedPart;
  mayContinue(): Promise<boolean>;
}

export interface NamespaceTrashParts {
  store: NamespaceStore;
  runs: Pick<RunStore, "purgeRun">;
  points: Pick<PointStore, "listHosts" | "deleteSeries">;
  access: Pick<Access, "requireAllWithin">;
  captures: CapturePolicies;
  clock: Clock;
  follower: Follower;
}

/** The trash of namespaces: one mark puts everything in a namespace and below it there. */
export class NamespaceTrash {
  readonly #parts: NamespaceTrashParts;

  constructor(parts: NamespaceTrashParts) {
    this.#parts = parts;
  }

  /** Into the trash. Doing it twice changes nothing. */
  async delete(caller: Caller, text: string): Promise<void> {
    const path = await this.#find(caller, text, "delete");
    await this.#mark(caller, path, this.#parts.clock.nowUs(), "delete-namespace");
  }

  /** Out of it, as it was: what was in the trash by itself stays there. */
  async restore(caller: Caller, text: string): Promise<void> {
    const path = await this.#find(caller, text, "restore");
    await this.#mark(caller, path, undefined, "restore-namespace");
  }

  /**
   * Destroys a part of what is in a namespace in the trash, runs first, and at last the namespace: to be called until it is done. Every
   * run, host and namespace goes in a transaction with its entry in the audit, so that the next call continues one that was ended.
   */
  async purge(caller: Caller, text: string): Promise<PurgedPart> {
    const { store, captures, follower } = this.#parts;
    const path = await this.#find(caller, text, "purge");
    // A new namespace of that name would allow everything.
    requireMayForbid(captures, caller, path, "purge");
    const found = await store.findNamespace(path);
    if (found?.deletedUs === undefined) throw notInTrash("purge", path);
    const part: PurgedPart = { runs: 0, hosts: 0, namespaces: 0, points: 0, done: false };
    const mayContinue = this.#limit(caller, path, part);
    const isDone =
      (await this.#purgeRuns(caller, path, { part, mayContinue })) &&
      (await this.#purgeHosts(caller, path, { part, mayContinue })) &&
      (await this.#purgeNamespaces(caller, path, { part, mayContinue }));
    await follower.catchUp();
    return { ...part, done: isDone };
  }

  /** Throws once the caller has lost the right to destroy the namespace. At least one thing is destroyed, however late it is. */
  #limit(caller: Caller, path: string, part: PurgedPart): Purge["mayContinue"] {
    const { access, clock } = this.#parts;
    const endUs = clock.nowUs() + PART_US;
    return async () => {
      await access.requireAllWithin(caller, path, "purge");
      authorize(caller, { namespace: path });
      return clock.nowUs() < endUs || part.runs + part.hosts + part.namespaces === 0;
    };
  }

  async #find(caller: Caller, text: string, verb: string): Promise<string> {
    const path = parseNamespace(text);
    await requireSeen(this.#parts.store, caller, path);
    await this.#parts.access.requireAllWithin(caller, path, verb);
    return path;
  }

  async #mark(caller: Caller, path: string, deletedUs: number | undefined, action: string): Promise<void> {
    const { store, clock, follower } = this.#parts;
    const audit = auditRecord(caller, clock.nowUs(), action, path);
    await store.trashNamespace(path, deletedUs, audit).catch((thrown) => {
      throw hiddenAbove(caller, path, thrown);
    });
    await follower.catchUp();
  }

  async #purgeRuns(caller: Caller, path: string, { part, mayContinue }: Purge): Promise<boolean> {
    const { store, runs } = this.#parts;
    const found = await store.listRunsWithin(path, RUNS_AT_ONCE);
    for (let at = 0; at < found.length; at += RUNS_TOGETHER) {
      if (!(await mayContinue())) return false;
      const together = found.slice(at, at + RUNS_TOGETHER).map(async ({ id, namespace }) => {
        const purged = await runs.purgeRun(id, this.#record(caller, "purge-run", id, { namespace }));
        part.runs++;
        part.points += purged.points;
      });
      for (const outcome of await Promise.allSettled(together)) {
        if (outcome.status === "rejected" && !isGone(outcome.reason)) throw outcome.reason;
      }
    }
    return found.length < RUNS_AT_ONCE;
  }

  async #purgeHosts(caller: Caller, path: string, { part, mayContinue }: Purge): Promise<boolean> {
    const { points } = this.#parts;
    const page = { under: path, after: undefined, trashed: true, limit: HOSTS_AT_ONCE, bytesMax: Infinity };
    const { rows, more } = await points.listHosts(page);
    for (const host of rows) {
      if (!(await mayContinue())) return false;
      part.points += await this.#purgeHost(caller, host);
      part.hosts++;
    }
    return !more;
  }

  async #purgeHost(caller: Caller, { namespace, name }: Host): Promise<number> {
    const facts = { namespace, host: name, matchers: JSON.stringify(EVERY_SERIES), axis: "step" };
    const audit = this.#record(caller, "delete-series", name, facts);
    const bounds = { ...SERIES_AT_ONCE, onlyTrashed: true };
    const whole = { axis: "step", from: undefined, to: undefined, ...bounds } as const;
    let [points, after]: [number, string | undefined] = [0, undefined];
    do {
      const asked = { owner: { host: { namespace, name } }, matchers: EVERY_SERIES, after, ...whole };
      const deleted = await this.#parts.points.deleteSeries(asked, audit);
      points += deleted.points;
      after = deleted.next;
    } while (after !== undefined);
    return points;
  }

  /** Children before their parents. */
  async #purgeNamespaces(caller: Caller, path: string, { part, mayContinue }: Purge): Promise<boolean> {
    const { store } = this.#parts;
    const page = {
      under: path,
      after: undefined,
      trashed: true,
      limit: NAMESPACES_AT_ONCE,
      bytesMax: Infinity,
    };
    const { rows, more } = await store.listNamespaces(page);
    // Of very many the last ones are not known yet; those that have children stay for the next call.
    for (const { path: own } of rows.toReversed()) {
      if (!(await mayContinue())) return false;
      const audit = this.#record(caller, "purge-namespace", own);
      try {
        await store.deleteNamespace(own, audit, { onlyTrashed: true });
        part.namespaces++;
      } catch (thrown) {
        if (!isGone(thrown) && !(more && isNotEmpty(thrown))) throw thrown;
      }
    }
    return !more;
  }

  #record(caller: Caller, action: string, target: string, facts?: Record<string, string>): AuditRecord {
    return auditRecord(caller, this.#parts.clock.nowUs(), action, target, facts);
  }
}

/** Two may purge at once. */
function isGone(thrown: unknown): boolean {
  return thrown instanceof CairnError && thrown.code === "not-found";
}

function isNotEmpty(thrown: unknown): boolean {
  return thrown instanceof CairnError && thrown.reason === "NAMESPACE_NOT_EMPTY";
}

/** Which namespace above is in the trash only those learn who may see it. */
function hiddenAbove(caller: Caller, path: string, thrown: unknown): unknown {
  if (!(thrown instanceof CairnError) || thrown.reason !== NAMESPACE_DELETED) return thrown;
  const above = thrown.facts["namespace"];
  if (above === undefined || maySee(caller, { namespace: above })) return thrown;
  return new CairnError(
    "precondition",
    `cannot change namespace ${quote(path)}: a namespace above it is in the trash`,
    {
      reason: NAMESPACE_DELETED,
      hint: "ask a maintainer of what is above it",
    },
  );
}
