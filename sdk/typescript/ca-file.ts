import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";

type Environment = Readonly<Record<string, string | undefined>>;

/** The file that CAIRN_CA_FILE names cannot be used. */
export class CaFileError extends Error {}

const CERTIFICATE = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g;

/** Certificates that were added in this process. */
const added = new Set<string>();

/**
 * Connections of this process to servers with TLS trust the authorities in the file that CAIRN_CA_FILE names, besides those
 * that Node trusts anyway. Does nothing without that variable, and for an address without TLS. Throws CaFileError.
 */
export async function trustCaFile(url: string, env: Environment): Promise<void> {
  const path = env["CAIRN_CA_FILE"];
  if (path === undefined || path === "" || !url.startsWith("https:")) return;
  const refuse = (cause: string) => new CaFileError(`cannot use CAIRN_CA_FILE "${path}": ${cause}`);
  let text: string;
  try {
    text = await readFile(path, "latin1");
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    throw refuse(code === "ENOENT" ? "there is no such file" : message);
  }
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw refuse("it has no certificate in PEM format");
  for (const [at, certificate] of certificates.entries()) {
    if (!isCertificate(certificate)) throw refuse(`certificate ${at + 1} in it is damaged`);
  }
  const missing = certificates.filter((certificate) => !added.has(certificate));
  if (missing.length === 0) return;
  const tls = await import("node:tls");
  // Node before 22.19 has no such function.
  if (typeof tls.setDefaultCACertificates !== "function") {
    throw refuse(
      `Node ${process.version} cannot add certificates: name the file in NODE_EXTRA_CA_CERTS instead`,
    );
  }
  tls.setDefaultCACertificates([...tls.getCACertificates("default"), ...missing]);
  for (const certificate of missing) added.add(certificate);
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}
