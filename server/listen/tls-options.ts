import { createSecureContext, type SecureContextOptions } from "node:tls";
import { CairnError } from "#lang/errors.ts";

/** In PEM. */
export interface TlsPair {
  /** With the chain above it. */
  cert: string | Buffer;
  key: string | Buffer;
}

/**
 * All of TLS 1.3, and of TLS 1.2 only ciphers with forward secrecy (ECDHE) and authenticated encryption (AEAD): if the
 * certificate's key is ever stolen, recorded traffic still cannot be decrypted.
 */
const CIPHERS = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
];

/** The TLS options of the port. Throws `invalid` when the two are not a certificate and its key. */
export function tlsOptions({ cert, key }: TlsPair): SecureContextOptions {
  const options: SecureContextOptions = { cert, key, minVersion: "TLSv1.2", ciphers: CIPHERS.join(":") };
  try {
    createSecureContext(options);
  } catch (cause) {
    throw new CairnError("invalid", `cannot use TLS certificate: ${(cause as Error).message}`, {
      cause,
      hint: "Check --tls-cert and --tls-key: both are PEM files, and the key belongs to the certificate.",
    });
  }
  return options;
}
