import { authorizeCall, maySee, type Caller } from "../access/caller.ts";
import type { ReadMask } from "../access/scope.ts";
import { CairnError } from "#lang/errors.ts";

/**
 * Sees to it that a stream shows no more than what the caller may read at the moment. It began with
 * certain rights; once they are other ones it must end, and what is left of them is found out by
 * beginning anew.
 */
export class RightsCheck {
  readonly #caller: Caller;
  #mask: ReadMask | undefined;

  constructor(caller: Caller) {
    authorizeCall(caller);
    this.#caller = caller;
    this.#mask = caller.rights.readable();
  }

  /**
   * What may be read now. Throws `unauthenticated` when the credential has ended and `aborted`
   * (ACCESS_CHANGED) when the rights have changed.
   */
  mask(): ReadMask | undefined {
    const { rights } = this.#caller;
    const mask = rights.readable();
    if (mask !== this.#mask && !isSame(mask, this.#mask)) {
      // An ended credential says so here.
      rights.mayAnywhere("read");
      throw accessChanged();
    }
    rights.mayAnywhere("read");
    this.#mask = mask;
    return mask;
  }

  /** Throws as `mask` does when the run was moved to where the caller may not read it. */
  requireSeen(run: { runId: string; namespace: string }): void {
    if (!maySee(this.#caller, run)) throw accessChanged();
  }
}

function accessChanged(): CairnError {
  return new CairnError("aborted", "cannot go on watching: what you may read has changed", {
    reason: "ACCESS_CHANGED",
    hint: "watch again from the last position",
  });
}

/** Any change of access gives everybody a mask of another id; most of them say the same as before. */
function isSame(a: ReadMask | undefined, b: ReadMask | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.id === b.id || (sameMap(a.namespaces, b.namespaces) && sameMap(a.runs, b.runs));
}

function sameMap(a: ReadonlyMap<string, boolean>, b: ReadonlyMap<string, boolean>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value) return false;
  return true;
}
