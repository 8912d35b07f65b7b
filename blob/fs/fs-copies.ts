import { basename, dirname, join } from "node:path";

import { isDigest, type BlobInfo } from "#core/types/blob.ts";

import { errnoOf } from "./disk.ts";
import { FOLDER } from "./layout.ts";
import type { Root } from "./root.ts";

/** Gives every blob a second name in a folder laid out as the store is. Blobs never change, so that is a copy. */
export async function copyBlobs(root: Root, blobs: AsyncIterable<BlobInfo>, folder: string): Promise<void> {
  const task = "cannot copy blobs";
  const { disk, layout } = root;
  const made = new Set<string>();
  await root.try(task, async () => {
    await disk.makeRoot(folder);
    for await (const { digest } of blobs) {
      const target = join(folder, basename(layout.folderOf(digest)));
      if (!made.has(target)) await disk.makeDirectory(target);
      made.add(target);
      const file = layout.fileOf(digest);
      // It may have been destroyed since it was listed.
      const wanted = (await disk.find(file))?.kind === "file";
      if (wanted && (await disk.find(join(target, digest))) === undefined) {
        await disk.link(file, join(target, digest)).catch((error: unknown) => {
          // Another process that copies into the same folder was faster.
          if (errnoOf(error) !== "EEXIST") throw error;
        });
      }
    }
  });
  for (const directory of [...made, folder, dirname(folder)]) {
    await root.sync(task, () => disk.syncDirectory(directory));
  }
}

/** Copies back the blobs that are missing. Each gets its name when it is complete, as an upload does. */
export async function takeBlobs(root: Root, folder: string): Promise<void> {
  const task = "cannot take blobs back";
  const { disk, layout } = root;
  if ((await root.try(task, () => disk.find(folder)))?.kind !== "directory") return;
  for await (const { name: part } of disk.list(folder)) {
    const source = join(folder, part);
    if (!FOLDER.test(part) || !(await root.hasFolder(task, source))) continue;
    for await (const { name: digest } of disk.list(source)) {
      const file = join(source, digest);
      if (!isDigest(digest) || !digest.startsWith(part)) continue;
      const entry = await root.try(task, () => disk.find(file));
      const there = await root.try(task, () => disk.find(layout.fileOf(digest)));
      if (entry?.kind !== "file" || there?.kind === "file") continue;
      const incoming = layout.newIncoming();
      await root.try(task, () => disk.link(file, incoming));
      await root.place(incoming, { digest, sizeBytes: entry.sizeBytes }, undefined);
    }
  }
}
