import { readFileSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { SPOOL_VERSION } from "./frame.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `$CAIRN_SPOOL`, else `cairn/spool` in `$XDG_STATE_HOME` or `~/.local/state`. */
export function spoolPath(env: Environment = process.env): string {
  if (env["CAIRN_SPOOL"]) return env["CAIRN_SPOOL"];
  const home = env["HOME"] || homedir();
  return join(env["XDG_STATE_HOME"] || join(home, ".local", "state"), "cairn", "spool");
}

const OWNER_FILE = "owner.json";

const Owner = z.object({
  version: z.number().int(),
  writer: z.string(),
  server: z.string(),
  client: z.string(),
  host: z.string(),
  pid: z.number().int(),
  pidStart: z.string(),
  createdUs: z.number(),
  /** False when no server was set and the default one has not answered yet. Absent in folders of earlier versions: true. */
  serverSet: z.boolean().optional(),
});
export type Owner = z.infer<typeof Owner>;

/** The writer of a folder from now on: this process. */
export function ownerOf(
  writer: string,
  { server, serverSet = true }: { server: string; serverSet?: boolean },
  client: string,
  nowUs: number,
): Owner {
  return {
    version: SPOOL_VERSION,
    writer,
    server,
    client,
    host: hostname(),
    pid: process.pid,
    pidStart: processStart(process.pid) ?? "",
    createdUs: nowUs,
    serverSet,
  };
}

export function writeOwner(folder: string, owner: Owner): void {
  const path = join(folder, OWNER_FILE);
  writeFileSync(`${path}.new`, `${JSON.stringify(owner, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** The run is on this server from now on. The folder stays as it is where that cannot be written. */
export function keepServer(folder: string, server: string): void {
  const owner = readOwner(folder);
  if (owner === undefined || (owner.serverSet !== false && owner.server === server)) return;
  try {
    writeOwner(folder, { ...owner, server, serverSet: true });
  } catch {
    // The next delivery tries again.
  }
}

/** undefined when there is none, or it cannot be understood. */
export function readOwner(folder: string): Owner | undefined {
  try {
    return Owner.parse(JSON.parse(readFileSync(join(folder, OWNER_FILE), "utf8")));
  } catch {
    return undefined;
  }
}

/** How long a folder of another machine must be unchanged before its owner counts as gone. */
const FOREIGN_SILENCE_MS = 3_600_000;

/** Whether the process that writes to the folder may still be there. */
export function isOwnerAlive(folder: string, owner: Owner | undefined, nowMs = Date.now()): boolean {
  if (owner === undefined || owner.host !== hostname()) {
    return nowMs - lastChangeMs(folder) < FOREIGN_SILENCE_MS;
  }
  const start = processStart(owner.pid);
  if (start !== undefined) return owner.pidStart === "" || owner.pidStart === start;
  try {
    process.kill(owner.pid, 0);
    // Where no start can be read, the number is all there is to go by.
    return process.platform !== "linux";
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM" && process.platform !== "linux";
  }
}

function lastChangeMs(folder: string): number {
  let last = 0;
  for (const name of readdirSync(folder)) {
    try {
      last = Math.max(last, statSync(join(folder, name)).mtimeMs);
    } catch {
      // Another process has delivered and removed it.
    }
  }
  return last;
}

const START_FIELD = 22;
/** The state of a process, which follows its name. */
const STATE_FIELD = 3;

/** Field 22 of /proc/PID/stat; undefined when there is no such process, or no /proc. */
function processStart(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // The name of the program may hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // A zombie process no longer writes.
  if (fields[0] === "Z" || fields[0] === "X") return undefined;
  return fields[START_FIELD - STATE_FIELD];
}
