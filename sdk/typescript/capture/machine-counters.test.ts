import { describe, expect, it } from "vitest";
import { parseCpuTime, parseDiskTraffic, parseMemory, parseNetworkTraffic } from "./machine-counters.ts";
import { DISKSTATS, MEMINFO, NET_DEV } from "./testing/recorded.ts";

describe("/proc", () => {
  it("C36 distinguishes busy and idle time", () => {
    const text = "cpu  100 20 30 400 50 6 7 8 90 10\ncpu0 1 2 3 4\nintr 5\n";
    expect(parseCpuTime(text)).toEqual({ busy: 100 + 20 + 30 + 6 + 7 + 8, total: 621 });
    expect(parseCpuTime("cpu  1 2 3 4\n")).toEqual({ busy: 6, total: 10 });
    expect(parseCpuTime("")).toBeUndefined();
    expect(parseCpuTime("cpu0 1 2 3 4")).toBeUndefined();
  });

  it("C36 knows the memory that is in use", () => {
    expect(parseMemory(MEMINFO)).toEqual({
      used: (131980916 - 131442932) * 1024,
      total: 131980916 * 1024,
    });
    expect(parseMemory("MemTotal: 1 kB\n")).toBeUndefined();
  });

  it("C36 counts each disk once", () => {
    const disks = new Set(["loop0", "vda", "vdb", "zram0"]);
    expect(parseDiskTraffic(DISKSTATS, disks)).toEqual({
      read: (1333066 + 249860) * 512,
      written: 504 * 512,
    });
    const partition = " 254       1 vda1 1 1 1000000 1 1 0 1000000 1 0 1 1\n";
    expect(parseDiskTraffic(DISKSTATS + partition, disks)).toEqual(parseDiskTraffic(DISKSTATS, disks));
    expect(parseDiskTraffic(DISKSTATS, new Set())).toBeUndefined();
    expect(parseDiskTraffic("", disks)).toBeUndefined();
  });

  it("C36 counts what leaves the machine", () => {
    expect(parseNetworkTraffic(NET_DEV)).toEqual({ received: 625, sent: 1473 });
    const more = NET_DEV + NET_DEV.split("\n")[5]!.replace("eth0", "veth12@if3") + "\n";
    expect(parseNetworkTraffic(more)).toEqual({ received: 625, sent: 1473 });
    expect(parseNetworkTraffic("")).toBeUndefined();
  });
});
