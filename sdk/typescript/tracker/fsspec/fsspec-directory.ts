import { parseJson, unquoted, type JsonNode, type JsonObject } from "#lang/json/parse.ts";
import { METADATA_DEPTH_MAX } from "../metadata-json.ts";
import { messageOf } from "../report-problem.ts";
import { TrackerSource } from "../api.ts";
import { inParallel } from "#base/in-parallel.ts";
import { idOf, nameOf } from "./run-names.ts";
import { compareTimestampNames, isTimestampName } from "./timestamp-names.ts";
import type { TrackerFileSystem } from "./tracker-file-system.ts";

/** An entry of the directory that was skipped. */
export interface FsspecProblem {
  path: string;
  reason: string;
}
export type ReportFsspecProblem = (problem: FsspecProblem) => void;

/** Of values as they were written: 1.0 stays 1.0. */
export type FsspecMetadata = ReadonlyMap<string, JsonNode>;

export interface FsspecArtifact {
  name: string;
  path: string;
  metadata: FsspecMetadata | null;
}

export interface FsspecRun {
  metadata: FsspecMetadata;
  artifacts: ReadonlyMap<string, FsspecArtifact>;
  sources: readonly TrackerSource[];
  /** Of its entries; undefined when it has none. */
  firstUs: bigint | undefined;
  lastUs: bigint | undefined;
}

interface Entry {
  path: string;
  name: string;
  content: JsonObject;
}

export type Category = "metadata" | "artifacts" | "sources" | "descendants";

/** Of one entry. Real metadata is far smaller. */
const ENTRY_BYTES_MAX = 16 * 1024 * 1024;
const READS_AT_ONCE = 16;
const JSON_OBJECT = "an object";

/**
 * Reads the directory in which TorchX's FsspecTracker keeps runs:
 *
 *     ROOT/<run>/metadata/<ns>         {"metadata": {key: value}}, one file per call
 *     ROOT/<run>/artifacts/<ns>        {"name", "path", "metadata"}
 *     ROOT/<run>/sources/<source>      artifact names, one per line; an empty line is a link without one
 *     ROOT/<run>/descendants/<child>   the same, written by the child; what sources say as well
 *
 * `<run>`, `<source>` and `<child>` are ids in base32, `<ns>` is the time. Up to 0.7.0 a source file had the last name
 * alone, since then all of them. Entries count in the order of their names as numbers. What cannot be read is reported
 * and skipped; TorchX itself fails for the whole run.
 */
export class FsspecDirectory {
  readonly fs: TrackerFileSystem;
  readonly root: string;
  readonly #report: ReportFsspecProblem;

  constructor(fs: TrackerFileSystem, root: string, report: ReportFsspecProblem) {
    this.fs = fs;
    this.root = root.length > 1 ? root.replace(/\/+$/, "") : root;
    this.#report = report;
  }

  /** Throws when there is no such directory: an empty answer would hide a mistyped path. */
  async check(): Promise<void> {
    if (await this.fs.exists(this.root)) return;
    throw new Error(`cannot use tracker directory "${this.root}": it does not exist; create it first`);
  }

  folder(runName: string, category?: Category): string {
    return category === undefined ? `${this.root}/${runName}` : `${this.root}/${runName}/${category}`;
  }

  /** In the order of their directory names. With a parent only those that have a link to it. */
  async runIds(parentRunId?: string | null): Promise<string[]> {
    await this.check();
    const found: [name: string, id: string][] = [];
    for (const { name, kind } of await this.fs.list(this.root)) {
      if (kind !== "directory") continue;
      const id = idOf(name);
      if (id !== undefined) found.push([name, id]);
      else this.#report({ path: `${this.root}/${name}`, reason: "its name is not a run id in base32" });
    }
    found.sort(([a], [b]) => (a < b ? -1 : 1));
    if (!parentRunId) return found.map(([, id]) => id);
    const parent = nameOf(parentRunId);
    const linked = await inParallel(found, READS_AT_ONCE, ([name]) =>
      this.fs.exists(`${this.folder(name, "sources")}/${parent}`),
    );
    return found.filter((_, i) => linked[i]).map(([, id]) => id);
  }

  async run(runId: string): Promise<FsspecRun> {
    const metadata = await this.#entries(runId, "metadata");
    const artifacts = await this.#entries(runId, "artifacts");
    const times = [...metadata, ...artifacts].map(({ name }) => name).sort(compareTimestampNames);
    const microseconds = (name: string | undefined) =>
      name === undefined ? undefined : BigInt(name) / 1000n;
    return {
      metadata: this.#merged(metadata),
      artifacts: this.#named(artifacts),
      sources: await this.sources(runId),
      firstUs: microseconds(times[0]),
      lastUs: microseconds(times.at(-1)),
    };
  }

  async metadata(runId: string): Promise<FsspecMetadata> {
    return this.#merged(await this.#entries(runId, "metadata"));
  }

  async artifacts(runId: string): Promise<Map<string, FsspecArtifact>> {
    return this.#named(await this.#entries(runId, "artifacts"));
  }

  /** By the names of the files, then in the order of their lines; each link once. */
  async sources(runId: string): Promise<TrackerSource[]> {
    const folder = this.folder(nameOf(runId), "sources");
    const files = await this.fs.list(folder);
    const names = files.map(({ name }) => name).sort();
    const links = await inParallel(names, READS_AT_ONCE, (name) => this.#sourceFile(folder, name));
    return links.flat();
  }

  async #sourceFile(folder: string, name: string): Promise<TrackerSource[]> {
    const path = `${folder}/${name}`;
    const id = idOf(name);
    if (id === undefined) {
      this.#report({ path, reason: "its name is not a run id in base32" });
      return [];
    }
    const text = await this.#text(path);
    return text === undefined ? [] : linesOf(text).map((line) => new TrackerSource(id, line || null));
  }

  /** Later ones win, so they are in order. */
  async #entries(runId: string, category: "metadata" | "artifacts"): Promise<Entry[]> {
    const folder = this.folder(nameOf(runId), category);
    const names: string[] = [];
    for (const { name, kind } of await this.fs.list(folder)) {
      if (kind !== "file") this.#report({ path: `${folder}/${name}`, reason: "it is not a file" });
      else if (isTimestampName(name)) names.push(name);
      else this.#report({ path: `${folder}/${name}`, reason: "its name is not a time in nanoseconds" });
    }
    names.sort(compareTimestampNames);
    const entries = await inParallel(names, READS_AT_ONCE, (name) => this.#entry(`${folder}/${name}`, name));
    return entries.filter((entry) => entry !== undefined);
  }

  async #entry(path: string, name: string): Promise<Entry | undefined> {
    const text = await this.#text(path);
    if (text === undefined) return undefined;
    try {
      const content = parseJson(text, { depthMax: METADATA_DEPTH_MAX, isForeign: true });
      if (content.type === "object") return { path, name, content };
      this.#report({ path, reason: "it holds JSON that is not an object" });
    } catch (thrown) {
      const cause = text === "" ? "it is empty" : messageOf(thrown);
      this.#report({
        path,
        reason: `${cause}; perhaps its writer was interrupted, or wrote a value that is not JSON`,
      });
    }
    return undefined;
  }

  async #text(path: string): Promise<string | undefined> {
    try {
      const bytes = await this.fs.read(path, ENTRY_BYTES_MAX);
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch (thrown) {
      const isText = !(thrown instanceof TypeError);
      this.#report({ path, reason: isText ? messageOf(thrown) : "it is not valid UTF-8" });
      return undefined;
    }
  }

  #merged(entries: readonly Entry[]): FsspecMetadata {
    const merged = new Map<string, JsonNode>();
    for (const { path, content } of entries) {
      const metadata = content.entries.get("metadata");
      if (metadata?.type === "object") for (const [key, value] of metadata.entries) merged.set(key, value);
      else this.#report({ path, reason: `"metadata" is not ${JSON_OBJECT} in it` });
    }
    return merged;
  }

  #named(entries: readonly Entry[]): Map<string, FsspecArtifact> {
    const named = new Map<string, FsspecArtifact>();
    for (const { path: file, content } of entries) {
      const name = textOf(content.entries.get("name"));
      const path = textOf(content.entries.get("path"));
      const metadata = content.entries.get("metadata") ?? NULL;
      if (name === undefined || path === undefined) {
        this.#report({ path: file, reason: '"name" and "path" are not both texts in it' });
      } else if (metadata.type === "object") {
        named.set(name, { name, path, metadata: metadata.entries });
      } else if (metadata.type === "null") {
        named.set(name, { name, path, metadata: null });
      } else {
        this.#report({ path: file, reason: `"metadata" is neither null nor ${JSON_OBJECT} in it` });
      }
    }
    return named;
  }
}

const NULL: JsonNode = { type: "null", source: "null" };

function textOf(node: JsonNode | undefined): string | undefined {
  return node?.type === "text" ? unquoted(node.source) : undefined;
}

/** A file without a line is a link without a name: its writer had begun. */
function linesOf(text: string): string[] {
  const lines = text.split("\n").map(stripped);
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return [...new Set(lines)];
}

/** As Python's `str.strip` does it, which knows other spaces than `trim`. */
export function stripped(text: string): string {
  return text
    .replace(/^[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/, "")
    .replace(/[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/, "");
}
