import { readdir, readFile, readlink } from "node:fs/promises";

const LISTENING = "0A";
const COMMAND_SHOWN = 60;

/** Which process listens on a TCP port of this machine, where Linux shows it to this user. */
export async function findPortOwner(port: number): Promise<{ pid: number; command: string } | undefined> {
  try {
    const inodes = await listeningInodes(port);
    if (inodes.size === 0) return undefined;
    for (const name of await readdir("/proc")) {
      if (/^\d+$/.test(name) && (await holdsSocket(name, inodes))) {
        const line = await readFile(`/proc/${name}/cmdline`, "utf8");
        return { pid: Number(name), command: line.split("\0").join(" ").trim().slice(0, COMMAND_SHOWN) };
      }
    }
  } catch {
    // No /proc: unknown.
  }
  return undefined;
}

/** Lines of /proc/net/tcp: number, local address with the port in hex, remote one, state, …, and the inode as tenth. */
async function listeningInodes(port: number): Promise<Set<string>> {
  const inodes = new Set<string>();
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    const text = await readFile(table, "utf8").catch(() => "");
    for (const line of text.split("\n").slice(1)) {
      const fields = line.trim().split(/\s+/);
      if (fields[1]?.endsWith(wanted) === true && fields[3] === LISTENING) inodes.add(fields[9]!);
    }
  }
  return inodes;
}

async function holdsSocket(pid: string, inodes: ReadonlySet<string>): Promise<boolean> {
  // Processes of other users are not visible, and processes may end meanwhile.
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
  for (const descriptor of descriptors) {
    const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => "");
    if (inodes.has(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? "")) return true;
  }
  return false;
}
