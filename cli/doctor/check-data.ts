import { mkdir, open, rm, rmdir, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { formatBytes } from "#lang/words/numbers.ts";
import { bad, ok, warn, type Finding } from "./finding.ts";

const FREE_BYTES_BAD = 64 * 2 ** 20;
const FREE_BYTES_WARN = 2 ** 30;
const FREE_SHARE_WARN = 0.05;

/** Numbers that statfs(2) gives for kinds of file systems. */
const OVER_A_NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "SMB"],
  [0xfe534d42, "SMB"],
  [0x01021997, "9p"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x5346414f, "AFS"],
  [0x65735546, "FUSE"],
]);
const PASSING: ReadonlyMap<number, string> = new Map([
  [0x01021994, "tmpfs, in memory: all data is lost when the machine stops"],
  [0x858458f6, "ramfs, in memory: all data is lost when the machine stops"],
  [0x794c7630, "a container's overlay: all data is lost with the container"],
]);

/** Whether a server could store its data in the folder, or in the place where it would be made. */
export async function checkData(data: string): Promise<Finding[]> {
  const existing = await nearestThing(data);
  const writable = await checkWritable(data, existing);
  return [
    writable,
    await checkMode(data),
    kindFinding(data, (await statfs(existing)).type),
    await checkRoom(data, existing),
  ];
}

async function checkWritable(data: string, existing: string): Promise<Finding> {
  // Only the system knows: permissions, read-only mounts, quotas and containers all matter.
  const probe = join(existing, `.cairn-doctor-${process.pid}`);
  try {
    if (existing === data) {
      await (await open(probe, "wx", 0o600)).close();
      await rm(probe);
    } else {
      await mkdir(probe, { mode: 0o700 });
      await rmdir(probe);
    }
  } catch (thrown) {
    const { message } = thrown as Error;
    return bad(
      "data folder",
      `${data} cannot be written: ${message.replace(/,.*$/s, "")}`,
      `fix its permissions, or choose another with --data or CAIRN_DATA`,
    );
  }
  return ok("data folder", existing === data ? data : `${data} will be created at the first start`);
}

async function checkMode(data: string): Promise<Finding> {
  const mode = await stat(data).then(
    (found) => found.mode,
    () => 0,
  );
  if (process.platform === "win32" || (mode & 0o077) === 0) return ok("data rights", "for this user alone");
  return warn(
    "data rights",
    `other users can read ${data} (mode ${(mode & 0o777).toString(8)})`,
    `chmod 700 ${data}`,
  );
}

/** `type` is what statfs(2) says. */
export function kindFinding(data: string, type: number): Finding {
  const network = OVER_A_NETWORK.get(type);
  if (network !== undefined) {
    return bad(
      "file system",
      `${data} is on ${network}: locks and fsync cannot be relied on there`,
      "choose a folder on a local disk with --data or CAIRN_DATA",
    );
  }
  const passing = PASSING.get(type);
  if (passing === undefined) return ok("file system", "local");
  return warn(
    "file system",
    `${data} is on ${passing}`,
    "choose a folder on a disk with --data or CAIRN_DATA",
  );
}

async function checkRoom(data: string, existing: string): Promise<Finding> {
  const { bavail, blocks, bsize } = await statfs(existing);
  const free = bavail * bsize;
  const text = `${formatBytes(free)} of ${formatBytes(blocks * bsize)} free`;
  const fix = `make room, purge what is not needed (\`cairn rm --purge\`), or move ${data} to a larger disk`;
  if (free < FREE_BYTES_BAD) return bad("disk", `nearly full: ${text}`, fix);
  if (free < FREE_BYTES_WARN || free < blocks * bsize * FREE_SHARE_WARN) return warn("disk", text, fix);
  return ok("disk", text);
}

/** The path itself, or what there is of it. */
async function nearestThing(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const isThere = await stat(at).then(
      () => true,
      // There is nothing below a path that is not a folder.
      (thrown: NodeJS.ErrnoException) => thrown.code === "EACCES",
    );
    if (isThere || dirname(at) === at) return at;
  }
}
