import { knownSecretStriker } from "./known-secrets.ts";
import { REDACTED, RULES, whole } from "./secret-rules.ts";
import { redactText } from "./secrets.ts";

const BEGIN = new RegExp(RULES.keys.begin);
const END = new RegExp(RULES.keys.end);
const BODY = whole(RULES.keys.body);
const RUN = new RegExp(RULES.keys.run, "g");

/**
 * Strikes secrets out of the lines of one stream, one after the other: a private key goes over many of them. Each line
 * stays one.
 */
export class LineRedactor {
  readonly #strike: (text: string) => string;
  /** How many more lines may belong to a private key. */
  #keyLines = 0;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#strike = knownSecretStriker(env);
  }

  redact(line: string): string {
    const inKey = this.#keyLines > 0 ? this.#redactKey(line) : undefined;
    if (inKey !== undefined) return inKey;
    if (line.includes("-----BEGIN") && BEGIN.test(line) && !END.test(line))
      this.#keyLines = RULES.keys.linesMax;
    return redactText(this.#strike(line), "line");
  }

  /** undefined when the line is no longer part of the key. */
  #redactKey(line: string): string | undefined {
    this.#keyLines--;
    if (END.test(line)) {
      this.#keyLines = 0;
      return line.replace(RUN, REDACTED);
    }
    if (BODY.test(line.trim())) return line.trim() === "" ? line : REDACTED;
    const clean = line.replace(RUN, REDACTED);
    if (clean !== line) return clean;
    this.#keyLines = 0;
    return undefined;
  }
}
