/** Disks that are watched, fail or lose their power, on top of the real one. */
import { existsSync, statSync } from "node:fs";
import { rename, rm, truncate } from "node:fs/promises";
import { dirname } from "node:path";

import { type Disk, nodeDisk } from "../disk.ts";

export type Call = keyof Disk | `file.${"write" | "sync" | "truncate" | "close" | "read" | "stat"}`;

/** The real disk, where `before` sees each call and may throw in its place. A rename comes with the old path. */
export function watchedDisk(before: (call: Call, path: string, from?: string) => void): Disk {
  const through = async <T>(call: Call, path: string, act: () => Promise<T>): Promise<T> => {
    before(call, path);
    return act();
  };
  return {
    makeRoot: (path) => through("makeRoot", path, () => nodeDisk.makeRoot(path)),
    makeDirectory: (path) => through("makeDirectory", path, () => nodeDisk.makeDirectory(path)),
    resolve: (path) => through("resolve", path, () => nodeDisk.resolve(path)),
    async rename(from, to) {
      before("rename", to, from);
      await nodeDisk.rename(from, to);
    },
    link: (from, to) => through("link", to, () => nodeDisk.link(from, to)),
    unlink: (path) => through("unlink", path, () => nodeDisk.unlink(path)),
    find: (path) => through("find", path, () => nodeDisk.find(path)),
    syncDirectory: (path) => through("syncDirectory", path, () => nodeDisk.syncDirectory(path)),
    async *list(path) {
      before("list", path);
      yield* nodeDisk.list(path);
    },
    async create(path) {
      const file = await through("create", path, () => nodeDisk.create(path));
      return {
        // Never more than 5 bytes at a time, so that a fault may come in the middle of a chunk.
        write: (bytes) => through("file.write", path, () => file.write(bytes.subarray(0, 5))),
        sync: () => through("file.sync", path, () => file.sync()),
        // A close that reports an error has still closed the file.
        close: async () => {
          await file.close();
          before("file.close", path);
        },
      };
    },
    async openForAppending(path, offset) {
      const file = await through("openForAppending", path, () => nodeDisk.openForAppending(path, offset));
      return {
        stat: () => through("file.stat", path, () => file.stat()),
        write: (bytes) => through("file.write", path, () => file.write(bytes.subarray(0, 5))),
        truncate: (sizeBytes) => through("file.truncate", path, () => file.truncate(sizeBytes)),
        sync: () => through("file.sync", path, () => file.sync()),
        close: async () => {
          await file.close();
          before("file.close", path);
        },
      };
    },
    async openForReading(path) {
      const file = await through("openForReading", path, () => nodeDisk.openForReading(path));
      return {
        stat: () => through("file.stat", path, () => file.stat()),
        read: (target, position) => through("file.read", path, () => file.read(target, position)),
        close: async () => {
          await file.close();
          before("file.close", path);
        },
      };
    },
  };
}

/** A disk whose nth call from `arm` on fails with `errno`; 0 for none. */
export function failingDisk(errno: string) {
  let left = 0;
  let failed: Call | undefined;
  const disk = watchedDisk((call) => {
    left -= 1;
    if (left !== 0) return;
    failed = call;
    throw Object.assign(new Error(`${errno}: planted`), { code: errno });
  });
  return {
    disk,
    arm: (nth: number) => {
      left = nth;
      failed = undefined;
    },
    failed: () => failed,
  };
}

/**
 * A disk that dies before its nth call. `fail` then takes from the real one what was never synced: of
 * what was written to files the second half, of directories the newest names. A file that was renamed has
 * its old name again.
 */
export function losingDisk(nth: number) {
  let left = nth;
  /** By path: how much of the file is safe. */
  const unsyncedFiles = new Map<string, number>();
  const unsyncedNames = new Map<string, { path: string; from: string | undefined }[]>();
  const addName = (path: string, from?: string) => {
    // A name that was there before always stays: with the old file or with the new one.
    if (existsSync(path)) return;
    unsyncedNames.set(dirname(path), [...(unsyncedNames.get(dirname(path)) ?? []), { path, from }]);
  };
  const disk = watchedDisk((call, path, from) => {
    left -= 1;
    if (left <= 0) throw Object.assign(new Error("EIO: no power"), { code: "EIO" });
    if (call === "create" || call === "openForAppending") addName(path);
    if (call === "file.write" && !unsyncedFiles.has(path)) unsyncedFiles.set(path, statSync(path).size);
    if (call === "file.sync") unsyncedFiles.delete(path);
    if (call === "syncDirectory") unsyncedNames.delete(path);
    if (call === "makeDirectory") addName(path);
    if (from !== undefined) {
      addName(path, from);
      const safe = unsyncedFiles.get(from);
      if (safe !== undefined && unsyncedFiles.delete(from)) unsyncedFiles.set(path, safe);
    }
  });
  const fail = async () => {
    left = 0;
    for (const [path, safe] of unsyncedFiles) {
      const entry = await nodeDisk.find(path);
      if (entry !== undefined) await truncate(path, safe + Math.floor((entry.sizeBytes - safe) / 2));
    }
    for (const { path, from } of [...unsyncedNames.values()].flat().reverse()) {
      if (from !== undefined && existsSync(path)) await rename(path, from);
      else await rm(path, { recursive: true, force: true });
    }
  };
  return { disk, fail };
}
