// Plain JavaScript, so that nothing need be stripped or found before the cache is there.
import { existsSync, mkdirSync, statSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Readers of the cache run what is in it, so no other user may write to the folder, or replace it. */
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/** Keeps compiled code, so that the next start is faster. Without a safe place for it, nothing is kept. */
export function keepCompiledCode(env = process.env) {
  const folder = cacheFolder(env);
  if (folder !== undefined) enableCompileCache(folder);
}

/** In a checkout beside the code it is made from, else in the cache folder of this user. */
export function cacheFolder(env) {
  if (existsSync(new URL("../../tsconfig.json", import.meta.url))) {
    return fileURLToPath(new URL("../../node_modules/.cache/cairn", import.meta.url));
  }
  const base = userCache(env);
  if (base === undefined) return undefined;
  const folder = join(base, "cairn", "code");
  try {
    // Nothing is made in the home of another user.
    if (!isSafe(nearestExisting(folder))) return undefined;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return isSafe(folder) ? folder : undefined;
  } catch {
    // Read-only, or full.
    return undefined;
  }
}

function userCache(env) {
  const named = process.platform === "win32" ? env.LOCALAPPDATA : env.XDG_CACHE_HOME;
  if (named && isAbsolute(named)) return named;
  const home = process.platform === "win32" ? env.USERPROFILE : env.HOME;
  if (!home || !isAbsolute(home)) return undefined;
  return process.platform === "darwin" ? join(home, "Library", "Caches") : join(home, ".cache");
}

function nearestExisting(folder) {
  return existsSync(folder) ? folder : nearestExisting(dirname(folder));
}

/** Whether only this user and root can change what `folder` leads to. With `sudo`, HOME may be that of another user. */
function isSafe(folder) {
  if (process.getuid === undefined) return true;
  for (let at = folder; ; at = dirname(at)) {
    const { uid, mode } = statSync(at);
    if (uid !== process.getuid() && uid !== 0) return false;
    if ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0) return false;
    if (at === dirname(at)) return true;
  }
}
