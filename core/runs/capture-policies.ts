import { Lanes } from "#base/lanes.ts";
import {
  ALL_ALLOWED,
  ARCHIVE_NAME,
  archiveForbidden,
  type CapturePolicy,
  type ForbiddenCapture,
} from "../types/capture.ts";
import { ancestors, isUnder, movedPath } from "#lang/namespace-path.ts";
import type { Follower } from "../journal/follower.ts";
import { CHANGED } from "../ports/journal.ts";
import type { NamespaceStore } from "../ports/namespace-store.ts";

/**
 * What must not be captured where. Cached in memory, because every envelope with lines needs it; it follows the journal.
 * Empty until `load`, or until the follower has caught up.
 */
export class CapturePolicies {
  readonly #store: Pick<NamespaceStore, "listCapturePolicies">;
  #policies = new Map<string, CapturePolicy>();
  /** One at a time, so that the last ones loaded are the latest. */
  readonly #loads = new Lanes(1);
  readonly #moving = new Set<{ from: string; to: string }>();

  constructor(store: Pick<NamespaceStore, "listCapturePolicies">, follower: Follower) {
    this.#store = store;
    follower.follow(CHANGED.namespaces, () => this.load());
  }

  load(): Promise<void> {
    return this.#loads.run(async () => {
      this.#policies = new Map(await this.#store.listCapturePolicies());
      // Those that were read may be the ones from before the move.
      for (const { from, to } of this.#moving) this.#copy(from, to);
    });
  }

  /** Whether the namespace itself forbids something. */
  has(path: string): boolean {
    return this.#policies.has(path);
  }

  /** The namespace and those below it that forbid something themselves. */
  within(namespace: string): string[] {
    return [...this.#policies.keys()].filter((path) => isUnder(path, namespace));
  }

  /** What is forbidden in a namespace is forbidden at the path that it is moved to, too, until `release` has resolved. */
  forbidAtBoth(from: string, to: string): { release(): Promise<void> } {
    const move = { from, to };
    this.#moving.add(move);
    this.#copy(from, to);
    return {
      release: async () => {
        this.#moving.delete(move);
        await this.load();
      },
    };
  }

  #copy(from: string, to: string): void {
    for (const [path, policy] of this.#policies) {
      if (isUnder(path, from)) this.#policies.set(movedPath(path, from, to), policy);
    }
  }

  /** The strictest on the path counts; of several namespaces that forbid the same the highest is named. */
  forbiddenIn(namespace: string): ForbiddenCapture {
    if (this.#policies.size === 0) return ALL_ALLOWED;
    const forbidden = { ...ALL_ALLOWED };
    for (const path of [...ancestors(namespace), namespace]) {
      const policy = this.#policies.get(path);
      if (policy?.forbidsConsole === true) forbidden.console ??= path;
      if (policy?.forbidsCode === true) forbidden.code ??= path;
    }
    return forbidden;
  }

  /** Throws `invalid` (CAPTURE_FORBIDDEN) for an archive of code where code must not be captured. */
  requireAllowed({ namespace, artifact }: { namespace: string; artifact: string }): void {
    if (artifact !== ARCHIVE_NAME) return;
    const { code } = this.forbiddenIn(namespace);
    if (code !== undefined) throw archiveForbidden(artifact, code);
  }
}
