import { isSecretName, REDACTED } from "./secrets.ts";

/** Shorter values, such as "true", stand in too many places that are no secret. */
const CHARACTERS_MIN = 8;

/**
 * Strikes out of a text what the environment holds under the name of a secret: a token that is printed, or given without
 * a name, has no look of its own.
 */
export function knownSecretStriker(
  env: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  const secrets = Object.entries(env)
    .filter(([name, value]) => value !== undefined && value.length >= CHARACTERS_MIN && isSecretName(name))
    .map(([, value]) => value!)
    // A value may be part of another.
    .sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, REDACTED), text);
}
