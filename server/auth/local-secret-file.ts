import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { CairnError, quote } from "#lang/errors.ts";
import { type Environment, findHome } from "../settings/settings.ts";

/** The content for clients; sdk/typescript/local-secret.ts and sdk/python/cairn/local_secret.py read it. */
export interface LocalSecretEntry {
  /** The one address that is bound: another user may listen on the same port of another loopback address. */
  address: string;
  secret: string;
  pid: number;
}

/** Where `cairn login` keeps credentials; undefined for a user who has no home directory. */
export function localSecretFolder(env: Environment): string | undefined {
  const home = findHome(env);
  const config = env["XDG_CONFIG_HOME"] || (home && join(home, ".config"));
  return config && join(config, "cairn");
}

/**
 * `local-PORT.json`, by which clients of the same user find the secret of the server on that port. Each start on the
 * port replaces or removes it, a clean stop removes it.
 */
export class LocalSecretFile {
  readonly #folder: string;
  readonly #path: string;
  #written = "";

  constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#path = join(folder, `local-${port}.json`);
  }

  /**
   * Creates the file, readable only by this user, in a folder where no other user can replace it. Throws
   * `precondition` for a folder that others own or may write.
   */
  write(entry: LocalSecretEntry): void {
    const text = `${JSON.stringify(entry)}\n`;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      requirePrivate(this.#folder);
      rmSync(this.#path, { force: true });
      // Exclusive: neither a link nor a file that was put there meanwhile is written to.
      const file = openSync(this.#path, "wx", 0o600);
      try {
        writeFileSync(file, text);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
    } catch (thrown) {
      if (thrown instanceof CairnError) throw thrown;
      throw refusal(this.#path, (thrown as Error).message);
    }
    this.#written = text;
  }

  /** The file of an earlier server on this port is invalid, and clients would send it in vain. */
  remove(): void {
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // A folder that cannot be written cannot have been written by a server of this user either.
    }
  }

  /** Keeps the one of a server that was started meanwhile. */
  removeOwn(): void {
    try {
      if (this.#written !== "" && readFileSync(this.#path, "utf8") === this.#written) this.remove();
    } catch {
      // It is gone already.
    }
  }
}

function requirePrivate(folder: string): void {
  if (process.platform === "win32") return;
  const { mode, uid } = lstatSync(folder);
  if (uid !== process.geteuid?.()) throw refusal(folder, "another user owns it");
  if ((mode & 0o022) !== 0) {
    throw refusal(folder, "others may write to it", `Close it with \`chmod 700 ${folder}\`.`);
  }
}

function refusal(path: string, cause: string, hint?: string): CairnError {
  return new CairnError("precondition", `cannot keep the local secret in ${quote(path)}: ${cause}`, {
    hint: hint ?? "Name another folder with XDG_CONFIG_HOME, or start with --auth and use tokens.",
  });
}
