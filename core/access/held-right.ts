import { CairnError } from "#lang/errors.ts";
import type { Follower } from "../journal/follower.ts";
import { CHANGED, type JournalChange } from "../ports/journal.ts";
import { HEAVY_PARTS, type RunStore } from "../ports/run-store.ts";
import { authorize, type Caller } from "./caller.ts";
import type { Scope } from "../types/scope.ts";

/** Notifies of every change of who may do what; returns how to unsubscribe. */
export type OnAccessChange = (listener: () => void) => () => void;

/** A right that is used for the duration of a transfer. */
export interface HeldRight {
  /** Aborted, with the refusal as its reason, from the moment the right is gone. */
  readonly signal: AbortSignal;
  /** Must be called at the end. May be called twice. */
  release(): void;
}

interface Held {
  /** Where it is now. */
  readonly scope: Scope & { runId: string };
  /** How often it was looked for. */
  looks: number;
  /** The refusal where the right is gone. */
  look(): CairnError | undefined;
  end(refusal: CairnError): void;
}

/** Rights to runs and artifacts that are held; they follow changes of access, and runs that are moved. */
export class HeldRights {
  readonly #runs: RunStore;
  readonly #onAccessChange: OnAccessChange;
  readonly #held = new Set<Held>();

  constructor(parts: { runs: RunStore; follower: Follower; onAccessChange?: OnAccessChange }) {
    this.#runs = parts.runs;
    this.#onAccessChange = parts.onAccessChange ?? (() => () => undefined);
    parts.follower.follow(CHANGED.moved, (changes) => this.#follow(changes));
  }

  /** The right of the caller to do to the scope what its call declares. It may be gone from the start. */
  async hold(caller: Caller, scope: Held["scope"]): Promise<HeldRight> {
    const gone = new AbortController();
    const held: Held = {
      scope: { ...scope },
      looks: 0,
      look() {
        try {
          authorize(caller, held.scope);
          return undefined;
        } catch (thrown) {
          return CairnError.from(thrown);
        }
      },
      end: (refusal) => gone.abort(refusal),
    };
    const stop = this.#onAccessChange(() => void this.#lookAgain(held));
    const release = (): void => {
      stop();
      this.#held.delete(held);
    };
    this.#held.add(held);
    try {
      // It may have been moved after the caller found it, and before it was followed.
      await this.#locate([held]);
    } catch (thrown) {
      release();
      throw thrown;
    }
    return { signal: gone.signal, release };
  }

  async #follow(changes: readonly JournalChange[] | undefined): Promise<void> {
    const moved = new Set(changes?.map(({ runId }) => runId) ?? [""]);
    const concerned = moved.has("")
      ? this.#held
      : [...this.#held].filter(({ scope }) => moved.has(scope.runId));
    await this.#locate([...concerned]);
  }

  /** What was bound may have gone to another path with its namespace: a refusal holds where the run is now. */
  async #lookAgain(held: Held): Promise<void> {
    const refusal = held.look();
    if (refusal === undefined) return;
    if (refusal.code === "forbidden") await this.#locate([held]).catch(() => held.end(refusal));
    else held.end(refusal);
  }

  /** All at once: changes of access wait for it. */
  async #locate(held: readonly Held[]): Promise<void> {
    const looks = held.map((one) => ({ one, look: ++one.looks }));
    const ids = [...new Set(held.map(({ scope }) => scope.runId))];
    if (ids.length === 0) return;
    const { runs } = await this.#runs.getRuns(ids, { omit: HEAVY_PARTS, bytesMax: Infinity });
    const namespaces = new Map(runs.map(({ id, namespace }) => [id, namespace]));
    for (const { one, look } of looks) {
      // Answers may come in another order: a later look knows more.
      if (look !== one.looks) continue;
      one.scope.namespace = namespaces.get(one.scope.runId) ?? one.scope.namespace;
      const refusal = one.look();
      if (refusal !== undefined) one.end(refusal);
    }
  }
}
