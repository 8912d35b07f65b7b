import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface CertificateOptions {
  kind?: "ec" | "rsa";
  days?: number;
}

/** A self-signed certificate for localhost. */
export function makeCertificate({ kind = "ec", days = 30 }: CertificateOptions = {}): {
  cert: string;
  key: string;
} {
  const folder = mkdtempSync(join(tmpdir(), "cairn-tls-"));
  try {
    const cert = join(folder, "cert.pem");
    const key = join(folder, "key.pem");
    const names = "subjectAltName=DNS:localhost,IP:127.0.0.1";
    const size = kind === "ec" ? "ec_paramgen_curve:prime256v1" : "rsa_keygen_bits:2048";
    const newKey = ["-newkey", kind, "-pkeyopt", size, "-nodes"];
    const subject = ["-subj", "/CN=localhost", "-days", String(days), "-addext", names];
    execFileSync("openssl", ["req", "-x509", ...newKey, ...subject, "-keyout", key, "-out", cert], {
      stdio: "pipe",
    });
    return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
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
