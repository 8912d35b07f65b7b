/**
 * Compiles the server, the command line and the SDK they use to JavaScript, together with the packages they need: a
 * command then loads a few files instead of some hundred, and nothing has to be installed beside them. Programs keep their
 * place in the tree (`server/start.js`, `store/sqlite/worker.js`), what they share is in `chunks/`.
 */
import { join, posix, relative } from "node:path";

import { build, type Plugin, type Rolldown } from "vite";

import packageJson from "../../package.json" with { type: "json" };
import { ROOT } from "../sources.ts";

/** Programs of processes and threads: what is started by its path. */
const PROGRAMS = [
  "base/threads/worker-start.js",
  "cli/start.js",
  "sdk/typescript/run/leftovers-main.ts",
  "server/start.js",
  "store/columns/analysis/worker.ts",
  "store/columns/worker.ts",
  "store/sqlite/worker.ts",
];
/** Modules that read the version from package.json: in a package it is a constant. */
const VERSION_MODULES = new Set(["sdk/typescript/version.ts", "server/version.ts"]);
/** `new URL("./worker.ts", import.meta.url)` */
const FILE_URL = /new URL\(\s*"(?<path>[^"]+)",\s*import\.meta\.url,?\s*\)/g;
/** The licences of all packages that are compiled in, which have to be passed on with them. */
const LICENSES = "licenses.md";
/** A placeholder for the top of the package until it is known in which chunk the code is. */
const TOP = "__CAIRN_PACKAGE_TOP__";

export interface AppBundle {
  /** JavaScript and the licences of packages, by path in the package. */
  files: Map<string, string>;
  /** Files that the code opens by their path in the package. */
  opened: string[];
}

export async function bundleApp(): Promise<AppBundle> {
  const opened = new Set<string>();
  const built = (await build({
    configFile: false,
    root: ROOT,
    logLevel: "error",
    plugins: [constantVersions(), fixedPaths(opened)],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      write: false,
      minify: false,
      license: { fileName: LICENSES },
      target: "esnext",
      rolldownOptions: {
        input: Object.fromEntries(PROGRAMS.map((path) => [path.replace(/\.[jt]s$/, ""), join(ROOT, path)])),
        output: { entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js" },
      },
    },
  })) as Rolldown.RolldownOutput;
  const files = new Map<string, string>();
  for (const one of built.output)
    files.set(one.fileName, one.type === "chunk" ? one.code : String(one.source));
  return { files, opened: [...opened].filter((path) => !files.has(path)).toSorted() };
}

function constantVersions(): Plugin {
  return {
    name: "constant-versions",
    load(id) {
      if (!VERSION_MODULES.has(pathOf(id))) return undefined;
      return `export const VERSION = ${JSON.stringify(packageJson.version)};\n`;
    },
  };
}

/** Files that code finds beside itself are found from the top of the package, because the code moves into a chunk. */
function fixedPaths(opened: Set<string>): Plugin {
  return {
    name: "fixed-paths",
    transform(code, id) {
      const path = pathOf(id);
      if (!code.includes("import.meta.url") || path.includes("node_modules/") || id.startsWith("\0"))
        return undefined;
      const folder = posix.dirname(path);
      const fixed = code
        .replaceAll(FILE_URL, (all, target: string) => {
          const compiled = target.replace(/\.ts$/, ".js");
          opened.add(posix.join(folder, compiled));
          return all.replace(target, compiled);
        })
        .replaceAll("import.meta.url", `new URL(${JSON.stringify(`${folder}/`)}, ${TOP})`);
      return { code: fixed, map: null };
    },
    renderChunk(code, { fileName }) {
      const up = posix.relative(posix.dirname(`/${fileName}`), "/");
      return code.replaceAll(TOP, `new URL(${JSON.stringify(`${up === "" ? "." : up}/`)}, import.meta.url)`);
    },
  };
}

function pathOf(id: string): string {
  return relative(ROOT, id).replaceAll("\\", "/");
}
