import { CairnError } from "#lang/errors.ts";
import { authorize, type Caller } from "./caller.ts";
import type { Scope } from "./scope.ts";

/** Tells of every change of who may do what; returns how to stop. */
export type OnAccessChange = (listener: () => void) => () => void;

/** A right that is used for as long as something is on its way. */
export interface HeldRight {
  /** Aborted, with the refusal as its reason, from the moment the right is gone. */
  readonly signal: AbortSignal;
  /** Must be called at the end. Twice is as good as once. */
  release(): void;
}

/** The right of the caller to do to the scope what its call declares. It may be gone from the start. */
export function holdRight(caller: Caller, scope: Scope, onChange: OnAccessChange): HeldRight {
  const gone = new AbortController();
  const look = (): void => {
    try {
      authorize(caller, scope);
    } catch (thrown) {
      gone.abort(CairnError.from(thrown));
    }
  };
  const release = onChange(look);
  look();
  return { signal: gone.signal, release };
}
