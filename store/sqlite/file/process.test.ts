import { execFile, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  AUDIT,
  appendOne,
  createRun,
  envelope,
  numbers,
  readNumbers,
  refused,
} from "#store/contract/stores.ts";
import { openIn, openInMemory, openOnDisk, tamper } from "../testing/under-test.ts";

const script = (name: string) => fileURLToPath(new URL(`../testing/${name}.ts`, import.meta.url));

describe("sqlite among processes and disks", () => {
  let directory: string;
  let data: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "cairn-process-"));
    data = join(directory, "data");
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  /** Opens the store in another process. */
  const openElsewhere = (then: "close" | "stay") =>
    execFile(process.execPath, [script("open-store"), directory, then]);
  const said = async (child: ChildProcess) => {
    const [text] = (await once(child.stdout!, "data")) as [string];
    return text;
  };

  it("D7 refuses a second process on the same directory with a clear message", async () => {
    const first = await openIn(directory, data);
    expect(JSON.parse(await said(openElsewhere("close")))).toEqual({
      code: "precondition",
      reason: "DIRECTORY_IN_USE",
      hint: expect.stringContaining("--data"),
    });
    // A second store in this process is refused, too, and does not affect the first one.
    await expect(openIn(directory, data)).rejects.toEqual(refused("precondition", "DIRECTORY_IN_USE"));
    await createRun(first.runs);
    await first.engine.close();
    const child = openElsewhere("close");
    expect(await said(child)).toBe("opened");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("D7 the next one can open it as soon as a killed process has ended", async () => {
    const child = openElsewhere("stay");
    expect(await said(child)).toBe("opened");
    await expect(openIn(directory, data)).rejects.toEqual(refused("precondition", "DIRECTORY_IN_USE"));
    child.kill("SIGKILL");
    await once(child, "exit");
    const next = await openIn(directory, data);
    await createRun(next.runs);
    await next.engine.close();
  });

  it("D8 refuses a store from a newer version and leaves it untouched", async () => {
    const opened = await openIn(directory, data);
    await createRun(opened.runs);
    await opened.engine.close();
    tamper(data, (db) => db.exec("PRAGMA user_version = 999"));
    const file = join(data, "cairn.db");
    const before = readFileSync(file);
    const files = readdirSync(data);
    await expect(openIn(directory, data)).rejects.toEqual(refused("precondition", "STORE_TOO_NEW"));
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(data)).toEqual(files);
    // A newer one may store its journal differently: that is not touched either.
    tamper(data, (db) => db.exec("PRAGMA journal_mode = DELETE"));
    const plain = readFileSync(file);
    await expect(openIn(directory, data)).rejects.toEqual(refused("precondition", "STORE_TOO_NEW"));
    expect(readFileSync(file).equals(plain)).toBe(true);
  });

  it("D8 refuses to restore a backup from a newer version", async () => {
    const opened = await openIn(directory, data);
    await opened.engine.copies!.backup(join(directory, "cairn.db"));
    tamper(directory, (db) => db.exec("PRAGMA user_version = 999"));
    const restored = opened.engine.copies!.restore(join(directory, "cairn.db"), { audit: AUDIT });
    await expect(restored).rejects.toEqual(refused("precondition", "BACKUP_UNUSABLE"));
    await createRun(opened.runs);
    await opened.engine.close();
  });

  it("D9 refuses a file that is not a store, and says so", async () => {
    await mkdir(data);
    await writeFile(join(data, "cairn.db"), "not a database at all ".repeat(500));
    await expect(openIn(directory, data)).rejects.toEqual(refused("corrupt"));
    // The directory is free again.
    await rm(join(data, "cairn.db"));
    const opened = await openIn(directory, data);
    await opened.engine.close();
  });

  it("reports what is wrong with a directory that cannot be used", async () => {
    await writeFile(data, "a file");
    await expect(openIn(directory, data)).rejects.toEqual(refused("unavailable"));
    await expect(openIn(directory, join(data, "below"))).rejects.toEqual(refused("unavailable"));
  });

  it.runIf(process.platform === "linux")("D6 writes no file when it is in memory", async () => {
    const openFiles = () => {
      const links = readdirSync("/proc/self/fd").map((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`);
        } catch {
          // The descriptor of this very listing.
          return "";
        }
      });
      return links.filter((link) => link.startsWith("/") && !link.startsWith("/dev/")).toSorted();
    };
    const here = readdirSync(process.cwd());
    const before = openFiles();
    const under = await openInMemory();
    const id = await createRun(under.runs);
    for (let seq = 1; seq <= 40; seq++) {
      const values = Array.from({ length: 5_000 }, (_, i) => Math.sin(seq * i));
      await appendOne(under.journal, envelope(id, seq, { series: [numbers("loss", values, seq * 5_000)] }));
    }
    await under.settle();
    expect(await readNumbers(under.points, id, "loss")).toHaveLength(200_000);
    await under.engine.integrity!.checkIntegrity();
    expect(openFiles()).toEqual(before);
    expect(readdirSync(under.directory)).toEqual([]);
    expect(readdirSync(process.cwd())).toEqual(here);
    await under.discard();
  });

  it("D5 leaves only the store, its lock and the space reserved for a full disk", async () => {
    const under = await openOnDisk();
    const id = await createRun(under.runs);
    await appendOne(under.journal, envelope(id, 1, { series: [numbers("loss", [1])] }));
    await under.engine.close();
    expect(readdirSync(under.data).toSorted()).toEqual(["cairn.db", "lock.db", "reserve"]);
    await rm(under.directory, { recursive: true });
  });
});
