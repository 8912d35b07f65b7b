import { InvalidArgumentError } from "commander";

/** A step of the command line. */
export function parseStep(text: string): bigint {
  if (/^-?\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return BigInt(text);
  throw new InvalidArgumentError("a step is a whole number within 2^53.");
}
