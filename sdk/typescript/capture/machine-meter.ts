import { readdir, readFile, statfs } from "node:fs/promises";
import { cpus, freemem, totalmem } from "node:os";
import {
  parseCpuTime,
  parseDiskTraffic,
  parseMemory,
  parseNetworkTraffic,
  type CpuTime,
  type DiskTraffic,
  type Traffic,
} from "./machine-counters.ts";

export type Values = Record<string, number>;

interface Counters {
  timeMs: number;
  cpu?: CpuTime | undefined;
  disk?: DiskTraffic | undefined;
  network?: Traffic | undefined;
}

/** Measures the whole machine; rates are taken from one reading to the next. What cannot be measured is absent. */
export class MachineMeter {
  readonly #dir: string;
  #last: Counters | undefined;

  /** `dir` is on the disk whose free space is measured. */
  constructor(dir: string) {
    this.#dir = dir;
  }

  async read(): Promise<Values> {
    const [counters, memory, room] = await Promise.all([readCounters(), readMemory(), readRoom(this.#dir)]);
    const last = this.#last;
    this.#last = counters;
    return {
      ...(last !== undefined && ratesBetween(last, counters)),
      "system/memory.used": memory.used,
      "system/memory.percent": percent(memory.used, memory.total),
      ...(room !== undefined && { "system/disk.percent": room }),
    };
  }
}

function ratesBetween(last: Counters, now: Counters): Values {
  const seconds = (now.timeMs - last.timeMs) / 1000;
  const values: Values = {};
  if (!(seconds > 0)) return values;
  if (last.cpu !== undefined && now.cpu !== undefined && now.cpu.total > last.cpu.total) {
    const busy = percent(now.cpu.busy - last.cpu.busy, now.cpu.total - last.cpu.total);
    values["system/cpu.percent"] = Math.min(100, Math.max(0, busy));
  }
  const add = (key: string, before: number | undefined, after: number | undefined) => {
    // A counter that decreased was reset with its device; the difference is unknown.
    if (before === undefined || after === undefined || after < before) return;
    values[key] = (after - before) / seconds;
  };
  add("system/disk.read", last.disk?.read, now.disk?.read);
  add("system/disk.write", last.disk?.written, now.disk?.written);
  add("system/network.received", last.network?.received, now.network?.received);
  add("system/network.sent", last.network?.sent, now.network?.sent);
  return values;
}

async function readCounters(): Promise<Counters> {
  const [stat, diskstats, blocks, net] = await Promise.all([
    textOf("/proc/stat"),
    textOf("/proc/diskstats"),
    readdir("/sys/block").catch((): string[] => []),
    textOf("/proc/net/dev"),
  ]);
  return {
    timeMs: performance.now(),
    cpu: parseCpuTime(stat) ?? cpuTimeOf(cpus()),
    disk: parseDiskTraffic(diskstats, new Set(blocks)),
    network: parseNetworkTraffic(net),
  };
}

/** Where there is no `/proc`. */
function cpuTimeOf(processors: ReturnType<typeof cpus>): CpuTime | undefined {
  if (processors.length === 0) return undefined;
  const totals = processors.map(({ times }) => Object.values(times).reduce((all, one) => all + one, 0));
  const total = totals.reduce((all, one) => all + one, 0);
  const idle = processors.reduce((all, { times }) => all + times.idle, 0);
  return { busy: total - idle, total };
}

async function readMemory(): Promise<{ used: number; total: number }> {
  const total = totalmem();
  return parseMemory(await textOf("/proc/meminfo")) ?? { used: total - freemem(), total };
}

async function readRoom(dir: string): Promise<number | undefined> {
  const disk = await statfs(dir).catch(() => undefined);
  if (disk === undefined) return undefined;
  // As `df` does it: of the blocks available to users other than root.
  const used = disk.blocks - disk.bfree;
  return used + disk.bavail > 0 ? percent(used, used + disk.bavail) : undefined;
}

async function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}

function percent(part: number, whole: number): number {
  return whole > 0 ? (100 * part) / whole : 0;
}
