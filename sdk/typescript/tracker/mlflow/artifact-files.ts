import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { inParallel } from "#base/in-parallel.ts";
import type { MLflowRest } from "./mlflow-rest.ts";
import type { MLflowRun } from "./mlflow-types.ts";

const PROXY = "/api/2.0/mlflow-artifacts/artifacts/";
const PROXY_SCHEME = "mlflow-artifacts:";
const FILES_MAX = 10_000;
const DEPTH_MAX = 32;
const UPLOADS_AT_ONCE = 4;
/** A slow line still gets its file through. */
const UPLOAD_MS_MIN = 60_000;
const BYTES_PER_MS_MIN = 256;

export interface ListedFile {
  /** From the root of the run's artifacts. */
  path: string;
  sizeBytes: number;
}

/** Files of runs on an MLflow server that keeps them itself (`--serve-artifacts`, the default). */
export class ArtifactFiles {
  readonly #rest: MLflowRest;

  constructor(rest: MLflowRest) {
    this.#rest = rest;
  }

  /**
   * Uploads a file, or a folder with all its files, into the folder `name` of the run; streamed, never in memory.
   * Returns its address, or undefined when there is no such file on this machine.
   */
  async upload(run: MLflowRun, name: string, source: string): Promise<string | undefined> {
    const local = localPath(source);
    const found = local === undefined ? undefined : await stat(local).catch(() => undefined);
    if (local === undefined || found === undefined) return undefined;
    checkName(name);
    const root = proxyRoot(run, name);
    const target = `${name}/${basename(local)}`;
    if (found.isFile()) await this.#put(local, `${root}/${target}`, found.size);
    else await this.#putFolder(local, `${root}/${target}`);
    return `${run.info.artifact_uri.replace(/\/+$/, "")}/${target}`;
  }

  /** All files of the run, in any folder. */
  async list(run: MLflowRun): Promise<ListedFile[]> {
    const files: ListedFile[] = [];
    let folders = [""];
    for (let depth = 0; folders.length > 0 && depth < DEPTH_MAX; depth++) {
      const next: string[] = [];
      for (const folder of folders) {
        const params = { run_id: run.info.run_id, ...(folder !== "" && { path: folder }) };
        const listed = this.#rest.pages<{ path: string; is_dir?: boolean; file_size?: number | string }>(
          "artifacts/list",
          params,
          "files",
          { method: "GET" },
        );
        for await (const { path, is_dir: isFolder, file_size: size } of listed) {
          if (isFolder === true) next.push(path);
          else files.push({ path, sizeBytes: Number(size ?? 0) });
          if (files.length + next.length > FILES_MAX) {
            throw new Error(
              `cannot list artifacts of run "${run.info.run_name}": there are more than ${FILES_MAX}`,
            );
          }
        }
      }
      folders = next;
    }
    return files;
  }

  async #putFolder(folder: string, target: string): Promise<void> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    if (files.length > FILES_MAX) {
      throw new Error(
        `cannot upload "${folder}": it has ${files.length} files, and ${FILES_MAX} is the most`,
      );
    }
    if (files.length === 0) throw new Error(`cannot upload "${folder}": it has no files`);
    await inParallel(files, UPLOADS_AT_ONCE, async (file) => {
      const relative = file.slice(folder.replace(/\/+$/, "").length + 1);
      await this.#put(file, `${target}/${relative}`, (await stat(file)).size);
    });
  }

  async #put(file: string, target: string, sizeBytes: number): Promise<void> {
    const path = PROXY + target.split("/").map(encodeURIComponent).join("/");
    await this.#rest.put(
      path,
      () => ({
        body: sizeBytes === 0 ? "" : Readable.toWeb(createReadStream(file)),
        headers: { "content-type": "application/octet-stream", "content-length": String(sizeBytes) },
      }),
      UPLOAD_MS_MIN + Math.ceil(sizeBytes / BYTES_PER_MS_MIN),
    );
  }
}

/** undefined for what is an address of something else. */
function localPath(source: string): string | undefined {
  if (/^file:\/\/\//i.test(source)) return fileURLToPath(source);
  return /^[a-z][a-z0-9+.-]+:/i.test(source) ? undefined : source;
}

function checkName(name: string): void {
  const parts = name.split("/");
  if (parts.every((part) => part !== "" && part !== "." && part !== "..")) return;
  throw new Error(
    `cannot upload artifact "${name}": its name is not a relative path such as "checkpoints/last"`,
  );
}

/** Where the proxy keeps the artifacts of the run. */
function proxyRoot(run: MLflowRun, name: string): string {
  const uri = run.info.artifact_uri;
  const rest = uri.slice(PROXY_SCHEME.length);
  if (!uri.startsWith(PROXY_SCHEME) || rest.startsWith("//")) {
    throw new Error(
      `cannot upload artifact "${name}": the experiment keeps files at "${uri}", where clients must write themselves; start the server with --serve-artifacts, or upload it and give its address as the path`,
    );
  }
  return rest.replace(/^\/+|\/+$/g, "");
}
