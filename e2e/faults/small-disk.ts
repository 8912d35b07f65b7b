import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "#server/testing/servers.ts";

const PIECE = Buffer.alloc(4096, 1);

/**
 * A disk of a few megabytes that only the processes of this test see: a tmpfs in a mount namespace of its own,
 * which lives as long as the process that made it, so that servers can come and go.
 */
export class SmallDisk {
  readonly folder: string;
  readonly #keeper: ChildProcess;

  private constructor(folder: string, keeper: ChildProcess) {
    this.folder = folder;
    this.#keeper = keeper;
  }

  static async mount(sizeBytes: number): Promise<SmallDisk> {
    const folder = makeFolder();
    const script = `mount -t tmpfs -o size=${sizeBytes} none "$0" && echo mounted && exec cat`;
    const keeper = spawn("unshare", ["-m", "sh", "-c", script, folder], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    await once(keeper.stdout, "data");
    return new SmallDisk(folder, keeper);
  }

  /** Runs a command where the disk is seen. */
  get through(): readonly [string, ...string[]] {
    return ["nsenter", "-t", String(this.#keeper.pid), "-m", "--"];
  }

  /** Puts a file on the disk that leaves so many bytes free. */
  fill(leftBytes = 0): void {
    const fd = openSync(join(this.#seen, "filler"), "a");
    try {
      while (this.freeBytes > leftBytes) writeSync(fd, PIECE);
    } catch (thrown) {
      if ((thrown as { code?: string }).code !== "ENOSPC") throw thrown;
    } finally {
      closeSync(fd);
    }
  }

  /** Takes the file away again. */
  clear(): void {
    rmSync(join(this.#seen, "filler"), { force: true });
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#seen);
    return bavail * bsize;
  }

  async remountReadOnly(): Promise<void> {
    const [command, ...args] = [...this.through, "mount", "-o", "remount,ro", this.folder];
    const mounting = spawn(command, args, { stdio: "inherit" });
    const [code] = (await once(mounting, "exit")) as [number | null];
    if (code !== 0) throw new Error(`mount ended with ${code}`);
  }

  async unmount(): Promise<void> {
    const gone = once(this.#keeper, "exit");
    this.#keeper.stdin!.end();
    await gone;
    rmSync(this.folder, { recursive: true });
  }

  /** The folder as its own processes see it. */
  get #seen(): string {
    return join(`/proc/${this.#keeper.pid}/root`, this.folder);
  }
}
