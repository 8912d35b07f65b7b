/** Command lines that see a file system of their own: only where this user may mount one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { SmallDisk } from "../faults/small-disk.ts";
import { useTerminal } from "./testing/cairn.ts";
import { START } from "./testing/start-cairn.ts";

describe("a command line with a mount", () => {
  const terminal = useTerminal();

  it("T19 works with a home that cannot be written", async () => {
    const home = await mkdtemp(join(tmpdir(), "cairn-ro-"));
    const script = `mount -t tmpfs -o ro none "$0" && exec "$@"`;
    const words = [home, process.execPath, START, "whoami", "--server", terminal.server.url];
    const child = spawn("unshare", ["-m", "sh", "-c", script, ...words], {
      env: { PATH: process.env["PATH"], HOME: home },
    });
    expect(await once(child, "exit")).toEqual([0, null]);
    await rm(home, { recursive: true });
  });

  it("T14 finds a disk that is nearly full", async () => {
    const disk = await SmallDisk.mount(8 << 20);
    try {
      const doctor = [process.execPath, START, "doctor", "--json", "--data", disk.folder, "--port", "0"];
      const [command, ...rest] = disk.through;
      const child = spawn(command, [...rest, ...doctor], {
        env: { PATH: process.env["PATH"], HOME: terminal.home, CAIRN_SERVER: terminal.server.url },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const findings = JSON.parse(await text(child.stdout)) as unknown[];
      expect(findings).toContainEqual(expect.objectContaining({ check: "disk", level: "bad" }));
    } finally {
      await disk.unmount();
    }
  });
});
