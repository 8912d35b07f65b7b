import { X509Certificate } from "node:crypto";
import type { Stats } from "node:fs";
import { open, stat } from "node:fs/promises";
import type { Logger } from "pino";
import type { Clock } from "#base/clock.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { tlsOptions, type TlsPair } from "./tls-options.ts";

const DAY_MS = 86_400_000;
const WARN_BEFORE_MS = 14 * DAY_MS;

/** How often to check whether a file has changed. */
const LOOK_MS = 60_000;

const GROUP_READS = 0o040;
const OTHERS_READ_OR_WRITE = 0o006;

export interface TlsFiles {
  cert: string;
  key: string;
}

interface Loaded {
  pair: TlsPair;
  expiresMs: number;
  /** Changes when one of the files is written or replaced. */
  identity: string;
}

/**
 * The certificate of the port, kept up to date with its files: programs that renew certificates write new ones while the server runs.
 *
 * The two files are rarely replaced at the same moment. A pair that does not match, or an invalid file, is logged once
 * and ignored: the pair that was read last stays, and the next check tries again.
 */
export class TlsCertificate {
  readonly #files: TlsFiles;
  readonly #clock: Clock;
  readonly #log: Logger;
  #loaded: Loaded;
  #use: (pair: TlsPair) => void = () => {};
  /** The logged state of the files. */
  #failure: string | undefined;
  #said: "good" | "ending" | "expired" = "good";
  #working: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  /** Throws `invalid`, with the file and a hint, if they cannot be used. */
  static async open(files: TlsFiles, clock: Clock, log: Logger): Promise<TlsCertificate> {
    return new TlsCertificate(files, await load(files), clock, log);
  }

  private constructor(files: TlsFiles, loaded: Loaded, clock: Clock, log: Logger) {
    this.#files = files;
    this.#loaded = loaded;
    this.#clock = clock;
    this.#log = log;
    this.#warnOfEnd();
  }

  get pair(): TlsPair {
    return this.#loaded.pair;
  }

  /** Below zero once it has expired. */
  get expiresInSeconds(): number {
    return (this.#loaded.expiresMs - this.#clock.nowUs() / 1000) / 1000;
  }

  /** Checks the files every minute from now on, and passes on each new pair. */
  follow(use: (pair: TlsPair) => void, lookMs = LOOK_MS): void {
    this.#use = use;
    this.#timer = setInterval(() => void this.#next(() => this.#look()), lookMs).unref();
  }

  /** Reads the files now, whether or not they have changed. Never rejects. */
  reload(): Promise<void> {
    return this.#next(() => this.#reload());
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #next(work: () => Promise<void>): Promise<void> {
    this.#working = this.#working.then(work).catch((thrown: unknown) => this.#keep(thrown));
    return this.#working;
  }

  async #look(): Promise<void> {
    this.#warnOfEnd();
    if ((await identityOf(this.#files)) !== this.#loaded.identity) await this.#reload();
  }

  async #reload(): Promise<void> {
    const loaded = await load(this.#files);
    this.#use(loaded.pair);
    this.#loaded = loaded;
    this.#failure = undefined;
    this.#said = "good";
    const expires = new Date(loaded.expiresMs).toISOString();
    this.#log.info({ file: this.#files.cert, expires }, "TLS certificate reloaded");
    this.#warnOfEnd();
  }

  #keep(thrown: unknown): void {
    const { message, hint } = CairnError.from(thrown);
    if (message === this.#failure) return;
    this.#failure = message;
    this.#log.error({ error: message, hint }, "cannot reload TLS certificate; the previous one stays in use");
  }

  #warnOfEnd(): void {
    const leftMs = this.expiresInSeconds * 1000;
    const state = leftMs <= 0 ? "expired" : leftMs <= WARN_BEFORE_MS ? "ending" : "good";
    if (state === this.#said) return;
    this.#said = state;
    const facts = { file: this.#files.cert, expires: new Date(this.#loaded.expiresMs).toISOString() };
    if (state === "expired") this.#log.warn(facts, "TLS certificate has expired: clients refuse it");
    if (state === "ending") this.#log.warn(facts, "TLS certificate expires soon: replace its files");
  }
}

async function load(files: TlsFiles): Promise<Loaded> {
  // First, so that a write during the read is found by the next check.
  const identity = await identityOf(files);
  const cert = await readPem(files.cert, () => {});
  const key = await readPem(files.key, (stats) => checkMode(files.key, stats));
  const pair = { cert, key };
  tlsOptions(pair);
  return { pair, identity, expiresMs: new X509Certificate(cert).validToDate.getTime() };
}

async function identityOf({ cert, key }: TlsFiles): Promise<string> {
  return `${await stateOf(cert)} ${await stateOf(key)}`;
}

async function stateOf(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(":");
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

async function readPem(file: string, check: (stats: Stats) => void): Promise<Buffer> {
  try {
    await using handle = await open(file);
    check(await handle.stat());
    return await handle.readFile();
  } catch (cause) {
    throw cause instanceof CairnError ? cause : unreadable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): CairnError {
  return new CairnError("invalid", `cannot read TLS file ${quote(file)}: ${(cause as Error).message}`, {
    cause,
    hint: "Check --tls-cert and --tls-key.",
  });
}

/**
 * A key that every user of the machine may read is not a secret. Its group may read it when root or the server's own
 * user has chosen
 * that group: so do Debian (root:ssl-cert, 640) and Kubernetes (fsGroup, 440).
 */
function checkMode(file: string, { mode, uid }: Stats): void {
  const self = process.getuid?.();
  // Windows has no such modes.
  if (self === undefined) return;
  const refuse = (why: string, hint: string): CairnError => {
    const shown = (mode & 0o777).toString(8).padStart(3, "0");
    return new CairnError("invalid", `cannot use TLS key ${quote(file)} with mode ${shown}: ${why}`, {
      hint,
    });
  };
  if ((mode & OTHERS_READ_OR_WRITE) !== 0) {
    throw refuse(
      "every user of this machine may read or write it",
      `Run chmod 600 ${quote(file)}. For a Kubernetes secret set defaultMode: 0400.`,
    );
  }
  if ((mode & GROUP_READS) !== 0 && uid !== 0 && uid !== self) {
    throw refuse(
      `its group may read it, and it belongs to user ${uid}`,
      `Run chmod 600 ${quote(file)}, or make root or user ${self} its owner.`,
    );
  }
}
