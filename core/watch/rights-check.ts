import { authorizeCall, maySee, type Caller } from "../access/caller.ts";
import type { ReadMask } from "../types/scope.ts";
import { CairnError } from "#lang/errors.ts";

/**
 * Checks that a stream shows only what the caller may read at the moment. The stream began with certain rights; once
 * they change it must end, and the client starts a new one with the remaining rights.
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
      // An ended credential throws here.
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
  return new CairnError("aborted", "cannot continue watching: what you may read has changed", {
    reason: "ACCESS_CHANGED",
    hint: "watch again from the last position",
  });
}

/** Any change of access gives all callers a mask with another id; most of them are equal to the one before. */
function isSame(a: ReadMask | undefined, b: ReadMask | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.id === b.id || (sameMap(a.namespaces, b.namespaces) && sameMap(a.runs, b.runs));
}

function sameMap(a: ReadonlyMap<string, boolean>, b: ReadonlyMap<string, boolean>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value) return false;
  return true;
}
