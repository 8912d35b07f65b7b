import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import type { ReportProblem } from "../api.ts";
import { messageOf, reportToConsole } from "../report-problem.ts";
import { FsspecTracker } from "./fsspec-tracker.ts";
import { LocalFileSystem } from "./local-file-system.ts";
import { MemoryFileSystem } from "./memory-file-system.ts";
import { parseFsspecConfig } from "./parse-config.ts";
import type { TrackerFileSystem } from "./tracker-file-system.ts";

/** One for the process, as fsspec's own. */
const memory = new MemoryFileSystem();

/**
 * The tracker that a config file of TorchX describes; `config` is its path or file: URL. Of protocols it knows `file`
 * (or `local`) and `memory`. What it skips in the directory is reported on standard error.
 */
export async function createFsspecTracker(
  config: string | null,
  report: ReportProblem = reportToConsole,
): Promise<FsspecTracker> {
  if (config === null || config === "") {
    throw new Error(
      "cannot make an fsspec tracker without a config: give the path of a file with protocol= and root_path=",
    );
  }
  const settings = parseFsspecConfig(await readConfig(config));
  const protocol = settings.get("protocol");
  const rootPath = settings.get("root_path");
  if (typeof protocol !== "string" || typeof rootPath !== "string") {
    const missing = ["protocol", "root_path"].filter((key) => typeof settings.get(key) !== "string");
    throw new Error(`cannot use tracker config "${config}": it has no ${missing.join(" and no ")}`);
  }
  const { fs, root } = place(config, protocol, rootPath);
  if (!(await fs.exists(root))) {
    throw new Error(
      `cannot use tracker directory "${root}" of "${config}": it does not exist; create it first`,
    );
  }
  return new FsspecTracker(fs, root, {
    onProblem: ({ path, reason }) => report(`skipped "${path}": ${reason}`),
  });
}

function place(config: string, protocol: string, root: string): { fs: TrackerFileSystem; root: string } {
  switch (protocol) {
    case "file":
    case "local":
      return { fs: new LocalFileSystem(), root: localPath(root) };
    case "memory":
      return { fs: memory, root: root.replace(/^memory:\/\//, "") || "/" };
    default:
      throw new Error(
        `cannot use tracker config "${config}": protocol "${protocol}" is not known here; file, local and memory are`,
      );
  }
}

async function readConfig(config: string): Promise<string> {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(config) && !/^(?:file|local):\/\//i.test(config)) {
    throw new Error(`cannot read tracker config "${config}": only files of this machine can be read`);
  }
  try {
    return await readFile(localPath(config), "utf8");
  } catch (thrown) {
    throw new Error(`cannot read tracker config "${config}": ${messageOf(thrown)}`, { cause: thrown });
  }
}

/** As fsspec takes it: a path or a URL, `~` for the home of the user. */
function localPath(text: string): string {
  if (/^file:\/\/\//i.test(text)) return fileURLToPath(text);
  const path = text.replace(/^(?:file|local):\/\//i, "");
  return path === "~" || path.startsWith("~/") ? homedir() + path.slice(1) : path;
}
