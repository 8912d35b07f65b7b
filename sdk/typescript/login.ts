import { chmod, mkdir, open, readFile, rename, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { trustCaFile } from "./ca-file.ts";
import type { ServerAddress } from "./client.ts";
import { findLocalServer } from "./local-secret.ts";

/** The server by default. */
export const DEFAULT_SERVER = "http://127.0.0.1:4700";

export interface Logins {
  /** The server to use when none is named. */
  default?: string | undefined;
  /** By address. */
  servers: Record<string, { token: string }>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `$XDG_CONFIG_HOME/cairn/login.json`, by default in `~/.config`. The Python client reads the same file. */
export function loginPath(env: Environment = process.env): string {
  return join(env["XDG_CONFIG_HOME"] || join(homeOf(env), ".config"), "cairn", "login.json");
}

/** A process in a container may have no home at all; then nothing is found there. */
function homeOf(env: Environment): string {
  if (env["HOME"]) return env["HOME"];
  try {
    return homedir();
  } catch {
    return "/nonexistent";
  }
}

/** The login file is invalid: unlike one that others may read, it may be replaced. */
export class LoginFileError extends Error {}

/** undefined when there is no file. Throws for one that others may read, and for an invalid one. */
export async function readLogins(path: string = loginPath()): Promise<Logins | undefined> {
  let text: string;
  try {
    const { mode } = await stat(path);
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw new Error(`cannot use "${path}": others may read it; fix it with \`chmod 600 ${path}\``);
    }
    text = await readFile(path, "utf8");
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    // Nor is there one behind a file, or where this user may not look.
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES") return undefined;
    throw thrown;
  }
  try {
    return loginsOf(JSON.parse(text));
  } catch (thrown) {
    throw new LoginFileError(
      `cannot read "${path}": it is not a login file; \`cairn login\` writes a new one`,
      {
        cause: thrown,
      },
    );
  }
}

/**
 * Throws for anything else. By hand: every command reads the file, and the library for this would be most of what a
 * command loads.
 */
function loginsOf(json: unknown): Logins {
  const { default: chosen, servers } = requireObject(json);
  if (chosen !== undefined && typeof chosen !== "string") throw new TypeError("the default is not a text");
  const entries = Object.entries(requireObject(servers)).map(([url, entry]) => {
    const { token } = requireObject(entry);
    if (typeof token !== "string") throw new TypeError("a token is not a text");
    return [url, { token }] as const;
  });
  return { ...(chosen !== undefined && { default: chosen }), servers: Object.fromEntries(entries) };
}

function requireObject(json: unknown): Partial<Record<string, unknown>> {
  if (typeof json === "object" && json !== null && !Array.isArray(json)) return json;
  throw new TypeError("it is not an object");
}

/** Replaces the file as a whole; it is for this user alone. */
export async function writeLogins(logins: Logins, path: string = loginPath()): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}`;
  const file = await open(temporary, "w", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(logins, undefined, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await chmod(temporary, 0o600);
  await rename(temporary, path);
}

export interface FoundServer extends ServerAddress {
  /** The source of the address: "option", "CAIRN_SERVER", "login" or "default". */
  by: "option" | "CAIRN_SERVER" | "login" | "default";
}

/**
 * Which server to talk to, and with which token: what is given, else CAIRN_SERVER and CAIRN_TOKEN (or the file
 * CAIRN_TOKEN_FILE names), else the login file, else this machine. Where no token is found, a server on this machine
 * may keep a secret for its own user. Certificates of CAIRN_CA_FILE are trusted from now on.
 */
export async function findServer(
  given: { server?: string | undefined; token?: string | undefined } = {},
  env: Environment = process.env,
): Promise<FoundServer> {
  const logins = await readLogins(loginPath(env));
  const [by, address] = ((): [FoundServer["by"], string] => {
    if (given.server !== undefined) return ["option", given.server];
    if (env["CAIRN_SERVER"]) return ["CAIRN_SERVER", env["CAIRN_SERVER"]];
    if (logins?.default !== undefined) return ["login", logins.default];
    return ["default", DEFAULT_SERVER];
  })();
  const url = normalizeServer(address);
  await trustCaFile(url, env);
  const token = given.token ?? (await environmentToken(env)) ?? logins?.servers[url]?.token;
  const local = token === undefined ? await findLocalServer(url, dirname(loginPath(env))) : undefined;
  if (local !== undefined) return { ...local, by };
  return { url, by, ...(token !== undefined && { token }) };
}

async function environmentToken(env: Environment): Promise<string | undefined> {
  if (env["CAIRN_TOKEN"]) return env["CAIRN_TOKEN"];
  if (!env["CAIRN_TOKEN_FILE"]) return undefined;
  return (await readFile(env["CAIRN_TOKEN_FILE"], "utf8")).trim();
}

/** `host`, `host:port` and URLs, as the URL under which logins are kept. Throws for an invalid address. */
export function normalizeServer(address: string): string {
  const text = address.trim();
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  let url: URL;
  try {
    url = new URL(withScheme);
  } catch {
    throw new Error(`cannot use server "${address}": it is not an address such as http://127.0.0.1:4700`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new Error(`cannot use server "${address}": it begins with neither http:// nor https://`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error("cannot use a server address with a password in it: use CAIRN_TOKEN or `cairn login`");
  }
  if (withScheme === `http://${text}` && url.port === "") url.port = "4700";
  return (url.origin + url.pathname).replace(/\/+$/, "");
}
