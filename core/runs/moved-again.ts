import { CairnError, quote } from "#lang/errors.ts";
import { RUN_MOVED } from "../ports/journal.ts";

const RETRY_MS = 1_000;

/** Whether the store refused it because the run is not where the call was judged. */
export function isMoved(thrown: unknown): boolean {
  return thrown instanceof CairnError && thrown.reason === RUN_MOVED;
}

/** For a call that was judged again a few times: nothing is wrong with it, so it may be sent again. */
export function movedAgain(verb: string, runId: string, cause: unknown): CairnError {
  return new CairnError("unavailable", `cannot ${verb} run ${quote(runId)}: others move it all the time`, {
    reason: RUN_MOVED,
    retryAfterMs: RETRY_MS,
    cause,
  });
}
