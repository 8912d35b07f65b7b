import type { BackoffOptions } from "../retry.ts";
import type { OnUploadProgress } from "../delivery/upload.ts";
import type { ShowNotice } from "./notices.ts";
import type { ParamValues } from "./params.ts";
import { statedProvenance, type StatedProvenance } from "./statements/stated-provenance.ts";
import type { TagValues } from "./tags.ts";
import { wrong } from "./wrong.ts";

/** What is recorded of the surroundings. Everything is on by default; `false` switches a part off. */
export interface CaptureOptions {
  /** What the process prints, as lines of the run's log. */
  console?: boolean | undefined;
  /** Commit, uncommitted changes, command, packages, machine. Secrets are left out. git may take half a second. */
  provenance?: boolean | { gitTimeoutMs?: number | undefined } | undefined;
  /** An archive of the working directory; `true` also outside a git repository. */
  archive?: boolean | undefined;
  /** Load of the machine and of the process as `system/…`, every so many milliseconds. */
  system?: boolean | { intervalMs?: number | undefined } | undefined;
}

export interface InitOptions extends StatedProvenance {
  /** Such as `http://127.0.0.1:4700`; by default CAIRN_SERVER, the login file, or this machine. */
  server?: string | undefined;
  token?: string | undefined;
  namespace?: string | undefined;
  name?: string | undefined;
  notes?: string | undefined;
  params?: ParamValues | undefined;
  tags?: TagValues | undefined;
  /** An id of another system, such as a scheduler: all processes with the same alias write to one run. */
  alias?: string | undefined;
  /** Id, path or alias of an existing run to continue. */
  resume?: string | undefined;
  /** Where data waits for the server; by default CAIRN_SPOOL or `~/.local/state/cairn/spool`. */
  spool?: string | undefined;
  spoolBytesMax?: number | undefined;
  /** Nothing is sent; `cairn sync` delivers it later. Also CAIRN_OFFLINE=1. */
  offline?: boolean | undefined;
  /** "every": each call is on disk, and synced, before it returns. By default within a second or 1,000 points. */
  fsync?: "every" | "segment" | undefined;
  /** The longest silence, in seconds; after three of them the run counts as lost. 0 for no promise. */
  heartbeatSeconds?: number | undefined;
  capture?: boolean | CaptureOptions | undefined;
  /** Which process of a distributed job this is; by default what its launcher says. */
  rank?: number | undefined;
  /** Whether this process reports that the run is alive and how it ended; by default rank 0, or the only one, does. */
  primary?: boolean | undefined;
  /** Finish at the end of the process and on signals; true by default. */
  handleExit?: boolean | undefined;
  /** How long `finish` waits for the server. */
  finishMs?: number | undefined;
  /** How long `init` waits for the server. */
  openMs?: number | undefined;
  onUploadProgress?: OnUploadProgress | undefined;
  /** Where notices go; standard error by default. */
  onNotice?: ShowNotice | undefined;
  /** Pauses between attempts. */
  backoff?: BackoffOptions | undefined;
  env?: Readonly<Record<string, string | undefined>> | undefined;
}

const TEXTS = ["server", "token", "namespace", "name", "notes", "alias", "resume", "spool"] as const;
const COUNTS = ["spoolBytesMax", "heartbeatSeconds", "finishMs", "openMs", "rank"] as const;

/** Throws TypeError for invalid options: an error of the program, independent of the server. */
export function checkOptions(options: InitOptions): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError("cannot begin a run: init() takes an object of options");
  }
  for (const name of TEXTS) {
    const value: unknown = options[name];
    if (value !== undefined && typeof value !== "string") throw wrong(name, value, "it is not a text");
  }
  for (const name of COUNTS) {
    const value: unknown = options[name];
    if (value === undefined) continue;
    const isCount = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
    if (!isCount) throw wrong(name, value, "it is not a whole number of 0 or more");
  }
  for (const name of ["params", "tags"] as const) {
    const value: unknown = options[name];
    if (value !== undefined && (typeof value !== "object" || value === null || Array.isArray(value))) {
      throw wrong(name, value, "it is not an object of keys and values");
    }
  }
  statedProvenance(options);
  const { fsync, alias, resume } = options;
  if (fsync !== undefined && fsync !== "every" && fsync !== "segment") {
    throw wrong("fsync", fsync, 'it is "every" or "segment"');
  }
  if (alias === "") throw wrong("alias", alias, "it is empty");
  if (resume === "") throw wrong("resume", resume, "it is empty");
  if (alias !== undefined && resume !== undefined) {
    throw new TypeError("cannot begin a run: give alias or resume, not both");
  }
}
