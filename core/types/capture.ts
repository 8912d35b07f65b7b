import { CairnError, quote } from "#lang/errors.ts";
import { DEFAULT_STREAM, type LogLines } from "./log.ts";
import { TRACKED } from "#lang/words/work-tree.ts";
import { CODE_NOTE } from "./merge-provenance.ts";
import type { Provenance } from "./provenance.ts";
import type { RunChange } from "./run.ts";

/** What a namespace forbids clients to record automatically, in it and below it. */
export interface CapturePolicy {
  /** Lines that a program prints. */
  forbidsConsole: boolean;
  /** Code: the archive of the working directory and the patch of uncommitted changes. */
  forbidsCode: boolean;
}

export const FORBIDS_NOTHING: CapturePolicy = { forbidsConsole: false, forbidsCode: false };

/** What applies in a namespace: the path of the highest one that forbids it, undefined where it is allowed. */
export interface ForbiddenCapture {
  console: string | undefined;
  code: string | undefined;
}

export const ALL_ALLOWED: ForbiddenCapture = { console: undefined, code: undefined };

/** Under this name clients keep the archive of the working directory. */
export const ARCHIVE_NAME = "code/workdir.tar.gz";

const CONSOLE_STREAMS: ReadonlySet<string> = new Set([DEFAULT_STREAM, "stderr"]);

/** Whether lines were captured from the console. Lines of clients that do not declare it count as captured. */
export function isConsole({ origin, stream, written }: LogLines): boolean {
  return origin === "process" && written !== true && CONSOLE_STREAMS.has(stream);
}

/** The provenance without captured code where that is forbidden; the same object where nothing must be left out. */
export function allowedProvenance(
  provenance: Provenance,
  { code: forbiddenIn }: ForbiddenCapture,
): Provenance {
  const { code, environment } = provenance;
  if (forbiddenIn === undefined || code === undefined) return provenance;
  if (code.dirtyPatch === "" && code.archive === "") return provenance;
  const left = { ...code, dirtyPatch: "", archive: "" };
  if (code.dirtyPatch !== "") {
    left.trackedChanges = TRACKED.some;
    left.patchLeftOut = codeForbidden(forbiddenIn);
    left.leftOutBytes = Buffer.byteLength(code.dirtyPatch);
  }
  const note = `left out: ${codeForbidden(forbiddenIn)}`;
  return { ...provenance, code: left, environment: new Map([...environment, [CODE_NOTE, note]]) };
}

/** A change of a run without captured code where that is forbidden; the same object where nothing must be left out. */
export function allowedChange(change: RunChange, forbidden: ForbiddenCapture): RunChange {
  if (forbidden.code === undefined) return change;
  let isSame = true;
  const allowed: RunChange = { ...change };
  for (const part of ["provenance", "captured", "addProvenance"] as const) {
    const given = change[part];
    if (given === undefined) continue;
    allowed[part] = allowedProvenance(given, forbidden);
    isSame &&= allowed[part] === given;
  }
  return isSame ? change : allowed;
}

/** No client may try again with the same artifact, so this is `invalid`: a spool must not wait for a right. */
export function archiveForbidden(name: string, forbiddenIn: string): CairnError {
  return new CairnError("invalid", `cannot store artifact ${quote(name)}: ${codeForbidden(forbiddenIn)}`, {
    reason: "CAPTURE_FORBIDDEN",
    facts: { namespace: forbiddenIn },
    hint: `ask an administrator of namespace ${quote(forbiddenIn)}, or begin runs with the archive off`,
  });
}

function codeForbidden(namespace: string): string {
  return `namespace ${quote(namespace)} forbids code capture`;
}
