import type { Clock } from "#base/clock.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import type { RunRef } from "#lang/run-ref.ts";
import { auditRecord } from "../access/audit/audit-record.ts";
import type { Access } from "../access/access.ts";
import type { Caller } from "../access/caller.ts";
import type { Follower } from "../journal/follower.ts";
import type { RunStore } from "../ports/run-store.ts";
import { isMoved, movedAgain } from "./moved-again.ts";
import type { Runs } from "./runs.ts";

/** How often a move is begun again because others moved the run in between. */
const TRIES_MAX = 5;

export interface MovedRun {
  id: string;
  /** Its namespace before; the current one when the move changed nothing. */
  from: string;
  to: string;
}

/** Moves runs to other namespaces. */
export class RunMoves {
  readonly #parts: {
    runs: Runs;
    store: RunStore;
    access: Pick<Access, "moveRun">;
    clock: Clock;
    follower: Follower;
  };

  constructor(parts: {
    runs: Runs;
    store: RunStore;
    access: Pick<Access, "moveRun">;
    clock: Clock;
    follower: Follower;
  }) {
    this.#parts = parts;
  }

  /**
   * The run keeps its id and its data. From then on the rules of the new namespace apply: at once in this process, in others
   * within a second, and in the store for every envelope. Stored data stays, also data that must not be captured
   * in the new place.
   */
  async move(caller: Caller, ref: RunRef, namespace: string): Promise<MovedRun> {
    const { runs, store, access, clock, follower } = this.#parts;
    const to = parseNamespace(namespace);
    for (let tries = 1; ; tries++) {
      const { id, namespace: from } = await runs.getHead(caller, ref);
      if (from === to) return { id, from, to };
      const nowUs = clock.nowUs();
      const audit = auditRecord(caller, nowUs, "move-run", id, { from, to });
      const write = (accessAt: number) => store.moveRun(id, { from, to, accessAt }, nowUs, audit);
      try {
        await access.moveRun(caller, { namespace: from, runId: id }, to, write);
      } catch (thrown) {
        if (!isMoved(thrown)) throw thrown;
        if (tries < TRIES_MAX) continue;
        throw movedAgain("move", id, thrown);
      }
      await follower.catchUp();
      return { id, from, to };
    }
  }
}
