import { createPublicKey, hash, sign, verify, type KeyObject } from "node:crypto";
import type { Clock } from "#base/clock.ts";
import type { AccessStore } from "../../ports/access-store.ts";
import { authorize, type Caller } from "../caller.ts";

/** How long the chain of the audit is, and its last hash, at a time. */
export interface AuditHead {
  count: number;
  hash: string;
  timeUs: number;
  /** Of the server that signed it: the beginning of the SHA-256 of its key. */
  server: string;
}

export interface SignedAuditHead extends AuditHead {
  /** SubjectPublicKeyInfo in base64. */
  publicKey: string;
  /** Ed25519, in base64. */
  signature: string;
}

const SERVER_DIGITS = 32;

/** What is signed. The prefix keeps the signature from being valid for anything else. */
function headText({ count, hash: last, timeUs, server }: AuditHead): string {
  const json = `{"count":${count},"hash":${JSON.stringify(last)},"server":${JSON.stringify(server)},"time_us":${timeUs}}`;
  return `cairn-audit-head ${json}`;
}

function signHead(head: Omit<AuditHead, "server">, privateKey: KeyObject): SignedAuditHead {
  const der = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  const named = { ...head, server: hash("sha256", der, "hex").slice(0, SERVER_DIGITS) };
  const signature = sign(undefined, Buffer.from(headText(named)), privateKey).toString("base64");
  return { ...named, publicKey: der.toString("base64"), signature };
}

/** Whether the key in it has signed it, and is the one of the server it names. */
export function isSigned({ publicKey, signature, ...head }: SignedAuditHead): boolean {
  const der = Buffer.from(publicKey, "base64");
  if (hash("sha256", der, "hex").slice(0, SERVER_DIGITS) !== head.server) return false;
  try {
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    return verify(undefined, Buffer.from(headText(head)), key, Buffer.from(signature, "base64"));
  } catch {
    // Not a key at all.
    return false;
  }
}

/** Signs heads. A head that was saved elsewhere shows later whether history was rewritten. */
export class AuditHeads {
  readonly #store: AccessStore;
  readonly #clock: Clock;
  readonly #signer: () => KeyObject;

  /** `signer` is asked for the private key when the first head is wanted. */
  constructor(parts: { store: AccessStore; clock: Clock; signer: () => KeyObject }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#signer = parts.signer;
  }

  async get(caller: Caller): Promise<SignedAuditHead> {
    authorize(caller);
    const head = await this.#store.getAuditHead();
    return signHead({ ...head, timeUs: this.#clock.nowUs() }, this.#signer());
  }
}
