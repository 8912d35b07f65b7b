import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

import type { FileCall } from "./recording.ts";

/** A disk writes so many bytes as a whole or not at all. */
const SECTOR_BYTES = 512;
/** Shared memory of SQLite, which it creates again. */
const NOT_ON_DISK = /-shm$/;

/** What becomes of changes that were not synced when the power goes. */
export const LOSSES = ["none", "all", "some"] as const;
export type Loss = (typeof LOSSES)[number];

interface File {
  /** What is on the disk for certain. */
  synced: Buffer;
  /** Writes and truncations since then. */
  later: FileCall[];
}

type Node = File | "directory";

/** A change of directories: what is at each path afterwards. */
interface NameChange {
  paths: Map<string, Node | undefined>;
}

/**
 * A disk that promises no more than POSIX: the content of a file is there after a sync of the file, and its name after
 * a sync of its directory. Anything else may be lost, in any selection, when the power goes.
 */
export class Disk {
  readonly #root: string;
  /** As the program sees it. */
  readonly #names = new Map<string, Node>();
  readonly #syncedNames = new Map<string, Node>();
  #nameChanges: NameChange[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  apply(call: FileCall): void {
    const { kind, path, data } = call;
    if (NOT_ON_DISK.test(path)) return;
    const node = this.#names.get(path);
    switch (kind) {
      case "write":
      case "truncate":
        // A file without a name cannot be found again.
        if (node !== undefined && node !== "directory") node.later.push(call);
        return;
      case "sync":
        if (node === undefined || node === "directory") this.#syncNames(path);
        else syncFile(node);
        return;
      case "create":
        return this.#change([[path, { synced: Buffer.alloc(0), later: [] }]]);
      case "mkdir":
        return this.#change([[path, "directory"]]);
      case "unlink":
        return this.#change([[path, undefined]]);
      case "rename":
        return this.#change([
          [path, undefined],
          [data.toString(), node],
        ]);
    }
  }

  /** Writes what the disk may have after a loss of power into `folder`. */
  writeImage(folder: string, loss: Loss, random: () => number): void {
    const isLost = () => loss === "all" || (loss === "some" && random() < 0.5);
    const names = new Map(this.#syncedNames);
    for (const change of this.#nameChanges) if (!isLost()) rename(names, change);
    mkdirSync(folder);
    const made = new Set([this.#root]);
    for (const [path, node] of [...names].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      // What was in a lost directory is lost.
      if (path === this.#root || !made.has(dirname(path))) continue;
      const target = join(folder, relative(this.#root, path));
      if (node === "directory") {
        made.add(path);
        mkdirSync(target);
      } else writeFileSync(target, contentAfter(node, isLost, loss === "some" ? random : undefined));
    }
  }

  #change(paths: readonly [string, Node | undefined][]): void {
    const change = { paths: new Map(paths) };
    this.#nameChanges.push(change);
    rename(this.#names, change);
  }

  #syncNames(directory: string): void {
    const kept: NameChange[] = [];
    for (const change of this.#nameChanges) {
      const isSynced = [...change.paths.keys()].some((path) => dirname(path) === directory);
      if (isSynced) rename(this.#syncedNames, change);
      else kept.push(change);
    }
    this.#nameChanges = kept;
  }
}

function rename(names: Map<string, Node>, { paths }: NameChange): void {
  for (const [path, node] of paths) {
    if (node === undefined) names.delete(path);
    else names.set(path, node);
  }
}

function syncFile(file: File): void {
  file.synced = contentAfter(file, () => false);
  file.later = [];
}

/** With `random`, writes that are not lost may be torn. */
function contentAfter({ synced, later }: File, isLost: () => boolean, random?: () => number): Buffer {
  const kept = later.filter(() => !isLost());
  const ends = kept.map(({ kind, offset, data }) => (kind === "write" ? offset + data.length : offset));
  const bytes = Buffer.alloc(Math.max(synced.length, ...ends));
  synced.copy(bytes);
  let size = synced.length;
  for (const { kind, offset, data } of kept) {
    if (kind === "truncate") {
      bytes.fill(0, offset);
      size = offset;
      continue;
    }
    const isTorn = random !== undefined && random() < 0.3;
    for (let at = 0; at < data.length;) {
      const end = Math.min(data.length, at + SECTOR_BYTES - ((offset + at) % SECTOR_BYTES));
      if (!isTorn || random() < 0.5) {
        data.copy(bytes, offset + at, at, end);
        size = Math.max(size, offset + end);
      }
      at = end;
    }
  }
  return bytes.subarray(0, size);
}
