import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ServerAddress } from "./client.ts";

/** As server/auth/local-secret-file.ts writes it. */
export interface LocalSecretEntry {
  address: string;
  secret: string;
  pid: number;
}

/**
 * undefined when there is no file, or one that is still being written. Throws for one that others may read or that
 * belongs to another user.
 */
export async function readLocalSecret(path: string): Promise<LocalSecretEntry | undefined> {
  let text: string;
  try {
    const { mode, uid } = await stat(path);
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw new Error(`cannot use "${path}": others may read it; restart the server, which writes a new one`);
    }
    if (process.geteuid !== undefined && uid !== process.geteuid()) {
      throw new Error(`cannot use "${path}": another user owns it; remove it and restart the server`);
    }
    text = await readFile(path, "utf8");
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES") return undefined;
    throw thrown;
  }
  try {
    return entryOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** By hand: every command reads it, and the library for this would be most of what a command loads. */
function entryOf(json: unknown): LocalSecretEntry | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  const { address, secret, pid } = json as Partial<Record<string, unknown>>;
  if (typeof address !== "string" || typeof secret !== "string" || !Number.isSafeInteger(pid))
    return undefined;
  return secret.startsWith("cairn_local_") ? { address, secret, pid: pid as number } : undefined;
}

/**
 * The server at a loopback address with the secret that it keeps for programs of its user; undefined where it
 * keeps none. `folder` is the one with the login file.
 *
 * The secret goes to the address that the server has bound, and to no other: another user of the machine may listen
 * on the same port of another one. "localhost" may be either, so that it becomes the address itself, unless a
 * certificate identifies the server.
 */
export async function findLocalServer(
  url: string,
  folder: string,
): Promise<Required<ServerAddress> | undefined> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  if (host !== "localhost" && host !== "::1" && !host.startsWith("127.")) return undefined;
  const file = `local-${port || (protocol === "https:" ? 443 : 80)}.json`;
  const entry = await readLocalSecret(join(folder, file));
  if (entry === undefined || (host !== "localhost" && host !== entry.address)) return undefined;
  const { address, secret: token } = entry;
  if (host === address || protocol === "https:") return { url, token };
  const literal = address.includes(":") ? `[${address}]` : address;
  return { url: url.replace("//localhost", `//${literal}`), token };
}
