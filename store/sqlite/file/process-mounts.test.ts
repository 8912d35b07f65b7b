import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FullDiskReport } from "../testing/full-disk.ts";

const run = promisify(execFile);
const script = (name: string) => fileURLToPath(new URL(`../testing/${name}.ts`, import.meta.url));

describe("sqlite on disks of its own", () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "cairn-mounts-"));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it("D3 refuses to open a directory that it may not write to", async () => {
    const mounted = `mount -t tmpfs -o ro none "$0" && exec "$1" "$2" "$0" close`;
    const command = ["-rm", "sh", "-c", mounted, directory, process.execPath, script("open-store")];
    const { stdout } = await run("unshare", command);
    expect(JSON.parse(stdout)).toMatchObject({ code: "unavailable", hint: expect.any(String) });
  });

  it("D10 R4 refuses writes while the disk is full, still reads, deletes, tidies up and starts, and recovers automatically", async () => {
    const mounted = `mount -t tmpfs -o size=6m none "$0" && exec "$1" "$2" "$0"`;
    const command = ["-rm", "sh", "-c", mounted, directory, process.execPath, script("full-disk")];
    const { stdout } = await run("unshare", command);
    const report = JSON.parse(stdout) as FullDiskReport;
    const [before, after] = report.acknowledged;
    expect(before).toBeGreaterThan(10);
    expect(after).toBe(20);
    for (const { code, reason, ms } of report.refusals) {
      expect({ code, reason }).toEqual({ code: "unavailable", reason: "DISK_FULL" });
      expect(ms).toBeLessThan(20_000);
    }
    expect(report.readWhileFull).toEqual({ values: before * 400, runs: 1, verified: before * 400 });
    expect(report.choresWhileFull).toEqual({
      refused: { "look for lost runs": "DISK_FULL" },
      uploadsLeft: 0,
      versionsLeft: 0,
      blobsLeft: 0,
      roomKept: true,
    });
    expect(report.purgedWhileFull).toEqual([20, 20]);
    expect(report.refusedAfterRestart).toBe("DISK_FULL");
    expect(report.readAtTheEnd).toEqual({ values: (before + after) * 400, problems: [], gaps: [] });
    expect(existsSync(join(directory, "ballast"))).toBe(false);
  });
});
