import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const DIST = fileURLToPath(new URL("../../web/dist/", import.meta.url));
/** As in web/vite.config.ts. */
const NONCE_MARK = "CAIRN-NONCE";
const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

export interface WebAsset {
  contentType: string;
  bytes: Uint8Array;
  gzipped: Uint8Array | undefined;
}

/** The pages as they were built, read once. */
export interface WebFiles {
  /** The document of every page. Its only data is whether no user is signed in. */
  page(nonce: string, visitor?: { isSignedOut: boolean }): Buffer;
  asset(name: string): WebAsset | undefined;
}

/** undefined when the pages were not built: then there is only the API. */
export function openWebFiles(folder = DIST): WebFiles | undefined {
  let page: string;
  try {
    // Written last.
    readFileSync(join(folder, "build.json"));
    page = readFileSync(join(folder, "index.html"), "utf8");
  } catch {
    return undefined;
  }
  // Only existing names are ever opened.
  const names = new Set(globSync("assets/*", { cwd: folder }).map((path) => path.slice("assets/".length)));
  const assets = new Map<string, WebAsset>();
  return {
    page: (nonce, { isSignedOut } = { isSignedOut: false }) =>
      Buffer.from(
        page.replace("<html", isSignedOut ? "<html data-signed-out" : "<html").replaceAll(NONCE_MARK, nonce),
      ),
    asset(name) {
      const known = assets.get(name);
      if (known !== undefined) return known;
      const contentType = TYPES[name.slice(name.lastIndexOf(".") + 1)];
      if (contentType === undefined || !names.has(name)) return undefined;
      const asset = readAsset(join(folder, "assets", name), contentType, names.has(`${name}.gz`));
      if (asset !== undefined) assets.set(name, asset);
      return asset;
    },
  };
}

/** undefined when the pages were built again since the server started. */
function readAsset(file: string, contentType: string, isGzipped: boolean): WebAsset | undefined {
  try {
    return {
      contentType,
      bytes: readFileSync(file),
      gzipped: isGzipped ? readFileSync(`${file}.gz`) : undefined,
    };
  } catch {
    return undefined;
  }
}
