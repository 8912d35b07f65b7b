import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CairnError, quote } from "#lang/errors.ts";

/** In the data folder, beside the store; it is not in backups. */
const FILE = "audit-key.pem";

/**
 * The key that heads of the audit are signed with, read or made when it is first used. Without a folder it lives as
 * long as the process.
 */
export function auditSigner(directory: string | undefined): () => KeyObject {
  let key: KeyObject | undefined;
  return () => (key ??= directory === undefined ? makeKey() : keyIn(join(directory, FILE)));
}

function makeKey(): KeyObject {
  return generateKeyPairSync("ed25519").privateKey;
}

function keyIn(file: string): KeyObject {
  try {
    const key = createPrivateKey(readFileSync(file));
    if (key.asymmetricKeyType !== "ed25519") throw new Error("it is not an Ed25519 key");
    return key;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return writeKey(file);
    throw new CairnError("unavailable", `cannot read ${quote(file)}: ${(cause as Error).message}`, {
      cause,
      hint: "restore the file, or remove it: then a new key is made, and heads are signed by another server",
    });
  }
}

function writeKey(file: string): KeyObject {
  const key = makeKey();
  const handle = openSync(file, "wx", 0o600);
  try {
    writeFileSync(handle, key.export({ type: "pkcs8", format: "pem" }));
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  return key;
}
