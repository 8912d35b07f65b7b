import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { selfSigned } from "./self-signed.ts";

const DAY_MS = 86_400_000;

export interface CertificateOptions {
  kind?: "ec" | "rsa";
  days?: number;
}

/** A self-signed certificate for localhost. */
export function makeCertificate({ kind = "ec", days = 30 }: CertificateOptions = {}): {
  cert: string;
  key: string;
} {
  const nowMs = Date.now();
  return selfSigned(kind, new Date(nowMs), new Date(nowMs + days * DAY_MS));
}

/** A certificate in files, as a server takes them. */
export interface CertificateFiles {
  /** What clients are to trust. */
  cert: string;
  certFile: string;
  keyFile: string;
  argv: string[];
}

/** Writes a new one into the folder, over the one that may be there. */
export function writeCertificate(folder: string, options?: CertificateOptions): CertificateFiles {
  const { cert, key } = makeCertificate(options);
  const certFile = join(folder, "cert.pem");
  const keyFile = join(folder, "key.pem");
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  return { cert, certFile, keyFile, argv: ["--tls-cert", certFile, "--tls-key", keyFile] };
}
