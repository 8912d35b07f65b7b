import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What this process holds, garbage not counted: it is collected first. */
export function memoryInUse(): NodeJS.MemoryUsage {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage();
}
