import { maySee, type Caller } from "../access/caller.ts";
import { CairnError, quote } from "#lang/errors.ts";

/** Discloses nothing about the run that has it, which the caller may not be allowed to see. */
export function aliasTaken(aliases: readonly string[], namespace: string): CairnError {
  const which =
    aliases.length === 1 ? `alias ${quote(aliases[0]!)} is` : `one of ${quote(aliases.join(", "))} is`;
  return new CairnError("exists", `cannot assign an alias: ${which} taken in namespace ${quote(namespace)}`, {
    reason: "ALIAS_TAKEN",
    hint: "create with get_or_create to share the run that has it",
  });
}

/** The same of a run that is moved to the namespace. */
export function aliasTakenThere(alias: string, runId: string, namespace: string): CairnError {
  return new CairnError(
    "exists",
    `cannot move run ${quote(runId)} to namespace ${quote(namespace)}: alias ${quote(alias)} is taken there`,
    {
      reason: "ALIAS_TAKEN",
      facts: { alias },
      hint: "an alias names one run of a namespace, also in the trash",
    },
  );
}

export function aliasConflict(aliases: readonly string[], ids: readonly string[]): CairnError {
  return new CairnError(
    "precondition",
    `cannot create a run with aliases ${quote(aliases.join(", "))}: they belong to different runs`,
    { reason: "ALIAS_CONFLICT", facts: { candidates: ids.join(" ") } },
  );
}

/** What the caller may learn from a refusal to create a run: a conflict only between runs that it may see. */
export function refusalFor(
  caller: Caller,
  thrown: unknown,
  run: { aliases: readonly string[]; namespace: string },
): unknown {
  if (!(thrown instanceof CairnError) || thrown.reason !== "ALIAS_CONFLICT") return thrown;
  const ids = (thrown.facts["candidates"] ?? "").split(" ");
  const seen = ids.every((runId) => maySee(caller, { namespace: run.namespace, runId }));
  return seen ? thrown : aliasTaken(run.aliases, run.namespace);
}
