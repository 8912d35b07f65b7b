import { randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Clock } from "#base/clock.ts";
import { CairnError, quote } from "#lang/errors.ts";

export interface Backup {
  name: string;
  createdUs: number;
  sizeBytes: number;
}

const SUFFIX = ".db";
const CONTENT_SUFFIX = ".blobs";
const PARTIAL = ".partial";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** Of an unfinished backup; the id is missing in those of earlier versions. */
const LEFT = /\.db(?:\.[0-9a-f-]{36})?\.partial$/;
const LEFT_CONTENT = /\.db\.[0-9a-f-]{36}\.partial\.blobs$/;
/** How long what a killed process left is kept: what a restore has replaced may be only there. */
const LEFT_MS = 7 * 86_400_000;
const NO_LINKS: ReadonlySet<unknown> = new Set(["EPERM", "ENOTSUP", "ENOSYS"]);

/**
 * The folder of backups: NAME.db with the store, and NAME.blobs with the content of artifacts. Several processes may make
 * backups in it, also of the same name at once: each fills a file of its own, which gets its name when it is complete, and the
 * first one keeps the name. They share the folder of content: nothing that one of them needs is removed from it.
 */
export class BackupFiles {
  readonly #directory: string;
  readonly #clock: Clock;

  constructor(directory: string, clock: Clock) {
    this.#directory = directory;
    this.#clock = clock;
  }

  fileOf(name: string): string {
    return join(this.#directory, name + SUFFIX);
  }

  folderOf(name: string): string {
    return join(this.#directory, name + CONTENT_SUFFIX);
  }

  async list(): Promise<Backup[]> {
    const files = await readdir(this.#directory).catch(() => []);
    const backups = files
      .filter((file) => file.endsWith(SUFFIX))
      .map((file) => file.slice(0, -SUFFIX.length))
      .filter((name) => NAME.test(name))
      .map((name) => this.describe(name));
    return (await Promise.all(backups)).sort((a, b) => a.createdUs - b.createdUs);
  }

  /** Throws `not-found`. */
  async describe(name: string): Promise<Backup> {
    const found = await stat(this.fileOf(name)).catch(() => undefined);
    if (found === undefined) {
      throw new CairnError("not-found", `cannot find backup ${quote(name)}`, {
        hint: "list the backups to see their names",
      });
    }
    return { name, createdUs: Math.round(found.mtimeMs * 1000), sizeBytes: found.size };
  }

  /** The path of a file to fill, which does not exist yet. Throws `exists` when the name is taken. */
  async begin(name: string): Promise<string> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    if ((await stat(this.fileOf(name)).catch(() => undefined)) !== undefined) throw taken(name);
    await this.#removeLeftovers();
    return `${this.fileOf(name)}.${randomUUID()}${PARTIAL}`;
  }

  /** Gives the complete file its name, durably. Throws `exists` when another process was faster. */
  async publish(partial: string): Promise<void> {
    const name = nameOf(partial);
    const file = this.fileOf(name);
    try {
      await link(partial, file);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      if (code === "EEXIST") throw taken(name);
      if (!NO_LINKS.has(code)) throw thrown;
      // Of two at once the last one keeps the name here; it is as complete as the first.
      await rename(partial, file);
    }
    await rm(partial, { force: true });
    const directory = await open(this.#directory, "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  /** Removes an unfinished file and its content, unless that also belongs to another one of its name. */
  async discard(partial: string): Promise<void> {
    const name = nameOf(partial);
    const file = basename(this.fileOf(name));
    const isOther = (other: string) =>
      other === file ||
      (other.startsWith(`${file}.`) && other.endsWith(PARTIAL) && other !== basename(partial));
    if (!(await readdir(this.#directory)).some(isOther)) {
      // Renamed first, because removing takes long, and another process may begin one of this name.
      const content = partial + CONTENT_SUFFIX;
      await rename(this.folderOf(name), content).catch(() => undefined);
      await rm(content, { recursive: true, force: true });
    }
    await rm(partial, { force: true });
  }

  async #removeLeftovers(): Promise<void> {
    const beforeMs = this.#clock.nowUs() / 1000 - LEFT_MS;
    for (const left of await readdir(this.#directory)) {
      const path = join(this.#directory, left);
      const isContent = LEFT_CONTENT.test(left);
      if (!isContent && !LEFT.test(left)) continue;
      const found = await stat(path).catch(() => undefined);
      if (found === undefined || found.mtimeMs >= beforeMs) continue;
      if (isContent) await rm(path, { recursive: true, force: true });
      else await this.discard(path);
    }
  }
}

export function checkedName(name: string): string {
  if (NAME.test(name)) return name;
  throw new CairnError("invalid", `cannot use backup name ${quote(name)}`, {
    hint: 'a name has up to 100 letters, digits, ".", "_" and "-"',
  });
}

/** Of the backup that a partial file becomes. */
function nameOf(partial: string): string {
  const file = basename(partial);
  return file.slice(0, file.lastIndexOf(`${SUFFIX}.`));
}

function taken(name: string): CairnError {
  return new CairnError("exists", `cannot create backup ${quote(name)}: it exists already`);
}
