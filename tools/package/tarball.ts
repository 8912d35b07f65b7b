import { Buffer } from "node:buffer";
import { writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";

/** Content by path in a package. */
export type PackageFiles = Map<string, Uint8Array>;

/** The time that npm gives to all files, so that the same content gives the same bytes. */
const TIME = new Date("1985-10-26T08:15:00.000Z");

/** Writes a package as `npm pack` does, and returns the path. */
export async function writeTarball(path: string, files: PackageFiles): Promise<string> {
  const tar = pack();
  for (const name of [...files.keys()].toSorted()) {
    const mode = name.startsWith("bin/") ? 0o755 : 0o644;
    tar.entry({ name: `package/${name}`, mode, mtime: TIME }, Buffer.from(files.get(name)!));
  }
  tar.finalize();
  const pieces: Uint8Array[] = [];
  for await (const piece of tar as AsyncIterable<Uint8Array>) pieces.push(piece);
  await writeFile(path, gzipSync(Buffer.concat(pieces), { level: 9 }));
  return path;
}

export function jsonFile(value: unknown): Uint8Array {
  return Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
}
