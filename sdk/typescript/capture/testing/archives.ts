import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import type { Archive } from "../archive/archive.ts";
import { temporaryFolder } from "./folders.ts";

export interface Tree {
  dir: string;
  target: string;
}

/** A folder with these files, and a path beside it for the archive. */
export async function plant(files: Record<string, string>): Promise<Tree> {
  const folder = await temporaryFolder();
  const dir = join(folder, "job");
  mkdirSync(dir);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  return { dir, target: join(folder, "archive.tar.gz") };
}

/** What the real tar makes of it: paths with their content, and links as `-> target`. */
export async function unpack(archive: Archive): Promise<Record<string, string>> {
  expect(archive.note).toBeUndefined();
  const folder = await temporaryFolder();
  execFileSync("tar", ["-xzf", archive.path!, "-C", folder], { timeout: 60_000 });
  const files: Record<string, string> = {};
  const read = (at: string) => {
    for (const entry of readdirSync(join(folder, at), { withFileTypes: true })) {
      const path = join(at, entry.name);
      if (entry.isDirectory()) read(path);
      else if (entry.isSymbolicLink()) files[path] = `-> ${readlinkSync(join(folder, path))}`;
      else files[path] = readFileSync(join(folder, path), "utf8");
    }
  };
  read("");
  expect(Object.keys(files)).toHaveLength(archive.files);
  return files;
}
