import { tooLarge, type FileEntry, type TrackerFileSystem } from "./tracker-file-system.ts";

/** Files of this process alone, for tests and for trying things out. */
export class MemoryFileSystem implements TrackerFileSystem {
  readonly #files = new Map<string, string>();
  readonly #folders = new Set<string>([""]);

  async list(folder: string): Promise<readonly FileEntry[]> {
    const inside = `${clean(folder)}/`;
    const entries: FileEntry[] = [];
    const add = (path: string, kind: FileEntry["kind"]) => {
      const name = path.slice(inside.length);
      if (path.startsWith(inside) && name !== "" && !name.includes("/")) entries.push({ name, kind });
    };
    for (const path of this.#files.keys()) add(path, "file");
    for (const path of this.#folders) add(path, "directory");
    return entries;
  }

  async exists(path: string): Promise<boolean> {
    return this.#files.has(clean(path)) || this.#folders.has(clean(path));
  }

  async read(path: string, sizeBytesMax: number): Promise<Uint8Array> {
    const content = this.#files.get(clean(path));
    if (content === undefined) throw new Error(`cannot read "${path}": there is no such file`);
    const bytes = new TextEncoder().encode(content);
    if (bytes.length > sizeBytesMax) throw tooLarge(path, sizeBytesMax);
    return bytes;
  }

  async create(path: string, content: string): Promise<boolean> {
    if (await this.exists(path)) return false;
    this.#files.set(this.#placed(path), content);
    return true;
  }

  async append(path: string, content: string): Promise<void> {
    const at = this.#placed(path);
    this.#files.set(at, (this.#files.get(at) ?? "") + content);
  }

  async makeDirs(folder: string): Promise<void> {
    const parts = clean(folder).split("/");
    for (let depth = 1; depth <= parts.length; depth++) {
      const path = parts.slice(0, depth).join("/");
      if (this.#files.has(path)) throw new Error(`cannot make folder "${folder}": "${path}" is a file`);
      this.#folders.add(path);
    }
  }

  #placed(path: string): string {
    const at = clean(path);
    if (this.#folders.has(at)) throw new Error(`cannot write "${path}": it is a folder`);
    if (!this.#folders.has(at.slice(0, Math.max(0, at.lastIndexOf("/"))))) {
      throw new Error(`cannot write "${path}": its folder does not exist`);
    }
    return at;
  }
}

/** One name per place: "/a//b/" and "a/b" are the same. */
function clean(path: string): string {
  const parts = path.split("/").filter((part) => part !== "");
  return parts.length === 0 ? "" : `/${parts.join("/")}`;
}
