import { isSecretName } from "./secret-names.ts";
import { REDACTED } from "./secret-rules.ts";
import { isCommon } from "./secret-values.ts";

/** Shorter values, such as "true", are too common. */
const CHARACTERS_MIN = 8;

/**
 * Redacts the values of variables that have the name of a secret: a token that is printed, or given without
 * a name, has no known format.
 */
export function knownSecretRedactor(
  env: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  const secrets = [...new Set(Object.entries(env).flatMap(([name, value]) => secretsIn(name, value ?? "")))]
    // A value may be part of another.
    .sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, REDACTED), text);
}

/**
 * Its lines, because text is searched by lines: as they are, as a URL has them, and with a character for each byte of
 * UTF-8, as an archive reads files.
 */
function secretsIn(name: string, value: string): string[] {
  if (!isSecretName(name)) return [];
  // The address of a webhook is all that is needed to use it.
  const isAddress = /webhook|dsn/i.test(name) && value.includes("://");
  return value.split("\n").flatMap((line) => {
    const one = line.trim();
    const isSecret =
      one.length >= CHARACTERS_MIN && !one.startsWith("-----") && (isAddress || !isCommon(one));
    return isSecret ? [one, encodeURIComponent(one.toWellFormed()), Buffer.from(one).toString("latin1")] : [];
  });
}
