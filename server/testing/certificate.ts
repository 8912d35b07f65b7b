import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A self-signed certificate for localhost that is good for a day. */
export function makeCertificate(): { cert: string; key: string } {
  const folder = mkdtempSync(join(tmpdir(), "cairn-tls-"));
  try {
    const cert = join(folder, "cert.pem");
    const key = join(folder, "key.pem");
    const names = "subjectAltName=DNS:localhost,IP:127.0.0.1";
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    const subject = ["-subj", "/CN=localhost", "-days", "1", "-addext", names];
    execFileSync("openssl", ["req", "-x509", ...kind, ...subject, "-keyout", key, "-out", cert], {
      stdio: "pipe",
    });
    return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
