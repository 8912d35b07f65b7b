import { readdir } from "node:fs/promises";
import { getCompileCacheDir } from "node:module";
import { dirname, join } from "node:path";
import { isOlder, NODE_MIN } from "#base/start/node-version.js";
import { readLocalSecret } from "#sdk/local-secret.ts";
import { loginPath, readLogins } from "#sdk/login.ts";
import { listSegments } from "#sdk/spool/segments.ts";
import { refusedFrames } from "#sdk/spool/set-aside.ts";
import { isOwnerAlive, readOwner, spoolPath } from "#sdk/spool/owner.ts";
import { countOf } from "#lang/words/numbers.ts";
import { bad, ok, warn, type Finding } from "./finding.ts";

/** This program itself and what it keeps for this user. */
export function checkNode(version: string = process.versions.node): Finding {
  if (!isOlder(version)) return ok("node", version);
  return bad(
    "node",
    `${version} is too old: Node ${NODE_MIN} or newer is needed`,
    "install a newer Node; packages of Cairn and `npm ci` in a checkout bring one along",
  );
}

/** `folder` is where code that was compiled once is kept, undefined where it cannot be. */
export function checkCompileCache(folder: string | undefined = getCompileCacheDir()): Finding {
  if (folder !== undefined) return ok("compile cache", folder);
  return warn(
    "compile cache",
    "compiled code cannot be kept: every command starts more slowly",
    "let only yourself and root write to ~/.cache/cairn and the folders above it (in a checkout: node_modules/.cache/cairn), and do not set NODE_DISABLE_COMPILE_CACHE",
  );
}

export async function checkLoginFile(env: NodeJS.ProcessEnv): Promise<Finding> {
  const path = loginPath(env);
  try {
    const logins = await readLogins(path);
    if (logins === undefined) return ok("login file", "there is none");
    return ok("login file", `${path}, ${countOf(Object.keys(logins.servers).length, "token")}`);
  } catch (thrown) {
    const { message } = thrown as Error;
    const isOpen = message.includes("chmod");
    return bad(
      "login file",
      message.replace(/; .*$/s, ""),
      isOpen
        ? `chmod 600 ${path}; if others have read it, revoke your tokens with \`cairn token revoke\``
        : "`cairn login` writes a new one",
    );
  }
}

/** Secrets that servers of this user keep for local programs; only problems are reported. */
export async function checkLocalSecrets(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  // They are of the user who called sudo; `checkUser` reports that.
  if (isBySudo(env, process.geteuid?.())) return [];
  const folder = dirname(loginPath(env));
  const names = await readdir(folder).catch(() => []);
  const findings: Finding[] = [];
  for (const name of names.filter((one) => /^local-\d+\.json$/.test(one)).sort()) {
    const path = join(folder, name);
    try {
      const entry = await readLocalSecret(path);
      if (entry !== undefined && isAlive(entry.pid)) continue;
      const text = `${path} belongs to a server that is not running`;
      findings.push(warn("local secret", text, `rm ${path}; the next start on that port replaces it, too`));
    } catch (thrown) {
      const fix = `rm ${path}, and restart the server on that port: until then, a user who has read it has the rights of the owner`;
      findings.push(bad("local secret", (thrown as Error).message.replace(/; .*$/s, ""), fix));
    }
  }
  return findings;
}

/** Root has neither the logins nor the servers of the user who called sudo. */
export function checkUser(env: NodeJS.ProcessEnv, uid: number | undefined = process.geteuid?.()): Finding[] {
  if (!isBySudo(env, uid)) return [];
  const { SUDO_USER: user } = env;
  return [
    warn(
      "user",
      `this runs as root by sudo: what ${user} may read and do is not checked`,
      "run it without sudo",
    ),
  ];
}

function isBySudo(env: NodeJS.ProcessEnv, uid: number | undefined): boolean {
  return uid === 0 && (env["SUDO_UID"] ?? "0") !== "0";
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Undelivered data of jobs that have ended. */
export async function checkSpool(env: NodeJS.ProcessEnv): Promise<Finding> {
  const spool = spoolPath(env);
  let names: string[];
  try {
    names = await readdir(spool);
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return ok("spool", "nothing to deliver");
    return bad("spool", message, "set CAIRN_SPOOL to a folder that can be written");
  }
  const folders = names.map((name) => join(spool, name)).filter((folder) => readOwner(folder) !== undefined);
  const ended = folders.filter((folder) => !isOwnerAlive(folder, readOwner(folder)));
  const refused = ended.reduce((sum, folder) => sum + refusedFrames(folder).length, 0);
  const left = ended.filter(
    (folder) => listSegments(folder).length > 0 || refusedFrames(folder).length === 0,
  );
  if (left.length === 0 && refused > 0) {
    return warn(
      "spool",
      `${countOf(refused, "frame")} that a server refused ${refused === 1 ? "is" : "are"} kept in ${spool}`,
      "`cairn sync` names the reasons; `cairn sync --retry` sends them again, `cairn sync --discard` deletes them",
    );
  }
  if (left.length === 0) {
    return ok(
      "spool",
      folders.length === 0 ? "nothing to deliver" : `${countOf(folders.length, "job")} at work`,
    );
  }
  return warn(
    "spool",
    `${countOf(left.length, "job")} ended before everything was delivered, in ${spool}`,
    "cairn sync",
  );
}
