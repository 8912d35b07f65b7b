import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("./leftovers-main.ts", import.meta.url));

/**
 * Delivers a folder of the spool in another process and waits for that: at the end of a process, its own
 * asynchronous work can no longer be awaited. True when everything was delivered.
 */
export function deliverLeftovers(folder: string, token: string | undefined, deadlineMs: number): boolean {
  if (!existsSync(PROGRAM)) return false;
  const { status } = spawnSync(process.execPath, [PROGRAM, folder, String(deadlineMs)], {
    env: { ...process.env, NODE_OPTIONS: "", ...(token !== undefined && { CAIRN_TOKEN: token }) },
    stdio: "ignore",
    timeout: deadlineMs,
    killSignal: "SIGKILL",
  });
  return status === 0;
}
