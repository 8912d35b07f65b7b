import { randomBytes } from "node:crypto";
import { basename, join, resolve } from "node:path";

import { CairnError, quote } from "#lang/errors.ts";

import type { Disk, ReadableFile } from "./disk.ts";

/**
 * The directory of a blob store:
 *
 *     format              "cairn-blobs 1"
 *     incoming/<random>   being written; leftovers of interrupted writes are removed at opening
 *     uploads/<id>        content that comes in pieces, as far as it has come
 *     00/ … ff/           <digest>, in the directory of its first two digits
 */
export interface Layout {
  /** Absolute, without symbolic links. */
  root: string;
  newIncoming(): string;
  /** The directory of content that comes in pieces. */
  uploads: string;
  uploadOf(id: string): string;
  folderOf(digest: string): string;
  fileOf(digest: string): string;
}

/** Names of the directories that hold blobs. */
export const FOLDER = /^[0-9a-f]{2}$/;

const FORMAT_NAME = "cairn-blobs";
const FORMAT_VERSION = 1;
const FORMAT_BYTES_MAX = 100;

export async function openLayout(disk: Disk, directory: string): Promise<Layout> {
  const given = resolve(directory);
  if ((await disk.find(join(given, "format"))) === undefined) await disk.makeRoot(given);
  const root = await disk.resolve(given);
  const incoming = join(root, "incoming");
  const uploads = join(root, "uploads");
  await claim(disk, root);

  for (const folder of [incoming, uploads]) {
    const found = await disk.find(folder);
    if (found === undefined) await disk.makeDirectory(folder);
    else if (found.kind !== "directory") throw foreign(root, basename(folder));
  }
  // The process that made a directory may have ended before it synced it.
  await disk.syncDirectory(root);
  for await (const { name, kind } of disk.list(incoming)) {
    if (kind !== "directory") await disk.unlink(join(incoming, name));
  }

  return {
    root,
    newIncoming: () => join(incoming, randomBytes(16).toString("hex")),
    uploads,
    uploadOf: (id) => join(uploads, id),
    folderOf: (digest) => join(root, digest.slice(0, 2)),
    fileOf: (digest) => join(root, digest.slice(0, 2), digest),
  };
}

/** Makes sure the directory is a blob store we can read, or makes an empty one a blob store. */
async function claim(disk: Disk, root: string): Promise<void> {
  const file = join(root, "format");
  const found = await disk.find(file);
  if (found === undefined) {
    // A start that was broken off leaves `format.new` behind and nothing else.
    for await (const { name } of disk.list(root)) if (name !== "format.new") throw foreign(root, name);
    await writeFormat(disk, root, file);
    return;
  }
  if (found.kind !== "file" || found.sizeBytes > FORMAT_BYTES_MAX) throw foreign(root, "format");
  const version = parseFormat(root, await readAll(disk, file));
  if (version > FORMAT_VERSION) {
    throw new CairnError(
      "precondition",
      `cannot open blob store ${quote(root)}: its format ${version} is newer than ${FORMAT_VERSION}`,
      { reason: "FORMAT_NEWER", hint: "start a server of the version that wrote it, or a newer one" },
    );
  }
}

async function writeFormat(disk: Disk, root: string, file: string): Promise<void> {
  const draft = join(root, "format.new");
  if ((await disk.find(draft)) !== undefined) await disk.unlink(draft);
  const handle = await disk.create(draft);
  try {
    let rest: Uint8Array = Buffer.from(`${FORMAT_NAME} ${FORMAT_VERSION}\n`);
    while (rest.length > 0) rest = rest.subarray(await handle.write(rest));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await disk.rename(draft, file);
  await disk.syncDirectory(root);
}

function parseFormat(root: string, text: string): number {
  const match = /^cairn-blobs ([1-9]\d{0,8})\n$/.exec(text);
  if (match === null) {
    throw new CairnError(
      "corrupt",
      `cannot open blob store ${quote(root)}: its format file is ${quote(text)}`,
      {
        hint: `the file "format" should hold "${FORMAT_NAME} ${FORMAT_VERSION}" and a line break`,
      },
    );
  }
  return Number(match[1]);
}

async function readAll(disk: Disk, file: string): Promise<string> {
  const handle = await disk.openForReading(file);
  try {
    return await readText(handle);
  } finally {
    await handle.close();
  }
}

async function readText(handle: ReadableFile): Promise<string> {
  const bytes = Buffer.alloc(FORMAT_BYTES_MAX);
  let length = 0;
  while (length < bytes.length) {
    const read = await handle.read(bytes.subarray(length), length);
    if (read === 0) break;
    length += read;
  }
  return bytes.toString("utf8", 0, length);
}

function foreign(root: string, name: string): CairnError {
  return new CairnError("precondition", `cannot open blob store ${quote(root)}: ${quote(name)} is not ours`, {
    hint: "choose a directory that is empty or was a blob store before",
  });
}
