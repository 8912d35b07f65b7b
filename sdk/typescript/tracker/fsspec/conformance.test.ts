import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { trackerConformance } from "../conformance.ts";
import { FsspecTracker } from "./fsspec-tracker.ts";
import { LocalFileSystem } from "./local-file-system.ts";
import { MemoryFileSystem } from "./memory-file-system.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "cairn-fsspec-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe("FsspecTracker on the disk", () => {
  trackerConformance({
    test: (title, body) => it(`X25 ${title}`, body),
    makeTracker: () => new FsspecTracker(new LocalFileSystem(), root),
    lacks: ["any run id"],
  });
});

describe("FsspecTracker in memory", () => {
  const memory = new MemoryFileSystem();
  trackerConformance({
    test: (title, body) => it(`X25 ${title}`, body),
    makeTracker: () => new FsspecTracker(memory, "/"),
    lacks: ["any run id"],
  });
});
