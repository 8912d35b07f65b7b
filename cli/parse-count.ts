import { InvalidArgumentError } from "commander";

/** For an option that takes a whole number of at least `min`. */
export function parseCount(min: number, max: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= min && count <= max) return count;
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new InvalidArgumentError(`expected a whole number ${range}`);
  };
}

/** For an option that may be repeated. */
export function collect(word: string, before: readonly string[] = []): string[] {
  return [...before, word];
}
