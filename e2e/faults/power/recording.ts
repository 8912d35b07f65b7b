import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("./recorder.c", import.meta.url));
const HEAD_BYTES = 24;
/** As in recorder.c. */
const KINDS = ["write", "sync", "truncate", "create", "rename", "unlink", "mkdir"] as const;

/** A call that changed a file, or made changes durable. */
export interface FileCall {
  kind: (typeof KINDS)[number];
  path: string;
  /** Where a write begins; the new size of a truncated file. */
  offset: number;
  /** What was written; the new path of a renamed file. */
  data: Buffer;
  /** The size of the log with this call. */
  position: number;
}

/** What a process did to the files of a directory. */
export class Recording {
  readonly #log: string;
  /** For the process. */
  readonly env: NodeJS.ProcessEnv;

  /** Compiles the recorder into `folder`, which also gets the log. */
  constructor(folder: string, directory: string) {
    this.#log = join(folder, "calls");
    const library = join(folder, "recorder.so");
    execFileSync("gcc", ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", library, SOURCE]);
    this.env = { ...process.env, LD_PRELOAD: library, RECORD_ROOT: directory, RECORD_LOG: this.#log };
  }

  /** The size of the log: what the process has said so far, it said after calls up to here. */
  get position(): number {
    return statSync(this.#log).size;
  }

  read(): FileCall[] {
    const log = readFileSync(this.#log);
    const calls: FileCall[] = [];
    for (let at = 0; at < log.length;) {
      const kind = KINDS[log.readUInt32LE(at)]!;
      const pathBytes = log.readUInt32LE(at + 4);
      const offset = Number(log.readBigUInt64LE(at + 8));
      const dataBytes = Number(log.readBigUInt64LE(at + 16));
      const dataAt = at + HEAD_BYTES + pathBytes;
      const path = log.toString("utf8", at + HEAD_BYTES, dataAt);
      at = dataAt + dataBytes;
      calls.push({ kind, path, offset, data: log.subarray(dataAt, at), position: at });
    }
    return calls;
  }
}
