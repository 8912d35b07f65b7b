import { CairnError, quote } from "#lang/errors.ts";
import { DEFAULT_STREAM, type LogLines } from "./log.ts";
import type { Provenance } from "./run.ts";

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

/** The provenance without captured code; the same object where it holds none. */
export function withoutCode(provenance: Provenance, forbiddenIn: string): Provenance {
  const { code, environment } = provenance;
  if (code === undefined || (code.dirtyPatch === "" && code.archive === "")) return provenance;
  return {
    ...provenance,
    code: { ...code, dirtyPatch: "", archive: "" },
    environment: new Map([...environment, ["note:code", `left out: ${codeForbidden(forbiddenIn)}`]]),
  };
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
