/** Counters of the whole machine in `/proc`. All functions are pure and return undefined for other text. */

/** Time since the start in ticks of any length. */
export interface CpuTime {
  busy: number;
  total: number;
}

/** Bytes since the start. */
export interface Traffic {
  received: number;
  sent: number;
}

export interface DiskTraffic {
  read: number;
  written: number;
}

/** `/proc/stat`: its first line sums up all processors. */
export function parseCpuTime(text: string): CpuTime | undefined {
  const fields = /^cpu +([\d ]+)/.exec(text)?.[1]?.trim().split(/ +/).map(Number);
  if (fields === undefined || fields.length < 4) return undefined;
  // user nice system idle iowait irq softirq steal; guest time, after them, is in user already.
  const total = sum(fields.slice(0, 8));
  return { busy: total - fields[3]! - (fields[4] ?? 0), total };
}

/** `/proc/meminfo`: memory that could not be freed without swapping. */
export function parseMemory(text: string): { used: number; total: number } | undefined {
  const kib = (name: string) =>
    Number(new RegExp(`^${name}: +(\\d+) kB$`, "m").exec(text)?.[1] ?? Number.NaN);
  const total = kib("MemTotal");
  const available = kib("MemAvailable");
  if (!(total > 0 && available >= 0)) return undefined;
  return { used: (total - available) * 1024, total: total * 1024 };
}

const SECTOR_BYTES = 512;
/** Not disks, or made of disks that are counted already. */
const NO_DISK = /^(?:loop|ram|zram|dm-|md|sr|fd|nbd|drbd)/;

/** `/proc/diskstats`, where `disks` are the names in `/sys/block`, so that partitions do not count twice. */
export function parseDiskTraffic(text: string, disks: ReadonlySet<string>): DiskTraffic | undefined {
  const rows = text
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , name, ...counts]) => name !== undefined && counts.length >= 7)
    .filter(([, , name]) => disks.has(name!) && !NO_DISK.test(name!));
  if (rows.length === 0) return undefined;
  return {
    read: sum(rows.map((row) => Number(row[5]))) * SECTOR_BYTES,
    written: sum(rows.map((row) => Number(row[9]))) * SECTOR_BYTES,
  };
}

/** The machine talking to itself, and bridges and bonds over interfaces that are counted already. */
const NO_WAY_OUT = /^(?:lo|ifb|veth|docker|br-|virbr|cni|flannel|cali|dummy|bond|team)|[.@]/;

/** `/proc/net/dev`. */
export function parseNetworkTraffic(text: string): Traffic | undefined {
  const rows = [...text.matchAll(/^ *([^\s:]+): *([\d ]+)$/gm)]
    .filter(([, name]) => !NO_WAY_OUT.test(name!))
    .map(([, , counts]) => counts!.trim().split(/ +/).map(Number))
    .filter((counts) => counts.length >= 16);
  if (rows.length === 0) return undefined;
  return { received: sum(rows.map((row) => row[0]!)), sent: sum(rows.map((row) => row[8]!)) };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
