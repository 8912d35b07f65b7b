import { allowedChange, ARCHIVE_NAME, isConsole, type ForbiddenCapture } from "../types/capture.ts";
import type { Envelope, Withheld } from "../types/envelope.ts";
import type { KeptParts } from "../ports/journal.ts";

/**
 * The part of an envelope that the capture policy allows to store; undefined when all of it is stored. The envelope itself
 * is not changed: its digest is computed from it, so that sending it again is a duplicate even if the policy changes.
 */
export function withhold(
  { log, artifacts, change }: Envelope,
  forbidden: ForbiddenCapture,
): { kept: KeptParts; withheld: Withheld } | undefined {
  const withheld: Withheld = { lines: 0, artifacts: 0, forbidden };
  const kept = { log, artifacts, change: change && allowedChange(change, forbidden) };
  if (forbidden.console !== undefined && log !== undefined) {
    kept.log = unlessEmpty(log.filter((lines) => !isConsole(lines)));
    for (const lines of log) if (isConsole(lines)) withheld.lines += lines.lengths.length;
  }
  if (forbidden.code !== undefined && artifacts !== undefined) {
    kept.artifacts = unlessEmpty(artifacts.filter(({ name }) => name !== ARCHIVE_NAME));
    withheld.artifacts = artifacts.length - (kept.artifacts?.length ?? 0);
  }
  return withheld.lines + withheld.artifacts > 0 || kept.change !== change ? { kept, withheld } : undefined;
}

function unlessEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length > 0 ? items : undefined;
}
