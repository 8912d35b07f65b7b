import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";

/** Whether this user may mount something that only one process sees. */
export function canMount(): boolean {
  try {
    execFileSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", tmpdir()], { stdio: "ignore" });
    execFileSync("nsenter", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
