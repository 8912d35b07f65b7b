import { readFile } from "node:fs/promises";
import { arch, availableParallelism, cpus, hostname, release, totalmem, type, userInfo } from "node:os";

/** The machine and the runtime, as facts by name. */
export async function describeHost(): Promise<Map<string, string>> {
  const system = await readFile("/etc/os-release", "utf8").catch(() => "");
  const distribution = /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(system)?.[1] ?? "";
  const facts = new Map([
    ["host", hostname()],
    ["os", `${type()} ${release()}${distribution === "" ? "" : ` (${distribution})`}`],
    ["arch", arch()],
    ["cpu", cpus()[0]?.model.trim() ?? ""],
    ["cpu.count", String(availableParallelism())],
    ["memory.bytes", String(totalmem())],
    ["node", process.version],
  ]);
  // What a container may have, where it is less than the machine has.
  const limit = process.constrainedMemory();
  if (limit > 0 && limit < totalmem()) facts.set("memory.limit.bytes", String(limit));
  for (const [name, value] of facts) if (value === "") facts.delete(name);
  return facts;
}

/** The user of the operating system. A container may have none of that number; then the environment may say. */
export function userName(env: Readonly<Record<string, string | undefined>>): string | undefined {
  try {
    const { username } = userInfo();
    if (username !== "") return username;
  } catch {
    // There is no entry for it.
  }
  const uid = process.geteuid?.();
  return env["USER"] || env["LOGNAME"] || env["USERNAME"] || (uid === undefined ? undefined : `uid ${uid}`);
}
