import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("./shim.c", import.meta.url));

/** How calls fail; shim.c says what each does. */
export type FaultKind = "eio" | "enospc" | "sync" | "short" | "torn" | "die";

export interface FaultStatus {
  /** Calls seen since the last arming. */
  seen: number;
  /** How many of them failed by its doing. After `torn` and `die` all later ones do, and are not counted. */
  hits: number;
  /** The first call that failed, and on which file; empty before. */
  call: string;
  path: string;
  calls: Record<string, number>;
}

/**
 * Compiles the shim into `folder` and returns the environment of a process that runs under it. With `fault`
 * the process does not have to control it.
 */
export function buildShim(
  folder: string,
  fault?: { directory: string; kind: FaultKind; nth: number },
): NodeJS.ProcessEnv {
  const library = join(folder, "shim.so");
  execFileSync("gcc", ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", library, SOURCE]);
  const env = { ...process.env, LD_PRELOAD: library };
  if (fault === undefined) return env;
  return { ...env, FAULT_ROOT: fault.directory, FAULT_ARM: `${fault.kind}/${fault.nth}/1` };
}

/** Speaks to the shim of this very process, on whichever thread. */
export const shim = {
  /** From now on only calls on files in `directory` count. */
  watch: (directory: string): FaultStatus => order(`root${directory}`),
  /**
   * The first call that `kind` can hit, from the `nth` on, fails, and so do the next ones up to `times`. With `call` the first
   * one is a call of that name.
   */
  arm: (kind: FaultKind, nth: number, times = 1, call?: string): FaultStatus =>
    order(["arm", kind, nth, times, ...(call === undefined ? [] : [call])].join("/")),
  off: (): FaultStatus => order("off"),
  status: (): FaultStatus => order("status"),
};

function order(text: string): FaultStatus {
  return JSON.parse(readFileSync(`/__fault__/${text}`, "utf8")) as FaultStatus;
}
