import { globMatcher } from "#lang/query/wildcards.ts";

/** The filter of keys, or the error of its text. */
export type KeyFilter = { fits(key: string): boolean; error?: undefined } | { error: string };

const PATTERN_MAX = 200;
/** Nested repetition, or alternatives in a repeated group: such patterns can take exponential time. */
const COSTLY =
  /\((?:[^()\\]|\\.)*(?:[*+}|])(?:[^()\\]|\\.)*\)\s*[*+{]|\(.*\(.*\)\s*[*+{?].*\)\s*[*+{]|\\[1-9]/;

/**
 * `loss` is a part of a name, with `*` or `?` it is a glob, between slashes it is a pattern: `/^val.*\/acc/`. Several are joined by commas or spaces; a key that fits one of them is shown. Also keys
 * that appear later.
 */
export function parseKeyFilter(text: string): KeyFilter {
  const trimmed = text.trim();
  if (trimmed === "") return { fits: () => true };
  if (trimmed.startsWith("/") && trimmed.length > 1) return patternFilter(trimmed);
  const parts = trimmed.split(/[\s,]+/).filter((part) => part !== "");
  const tests = parts.map((part) => (/[*?]/.test(part) ? globTest(part) : partTest(part)));
  return { fits: (key) => tests.some((test) => test(key)) };
}

function patternFilter(text: string): KeyFilter {
  const body = text.endsWith("/") ? text.slice(1, -1) : text.slice(1);
  if (body.length > PATTERN_MAX) return { error: `a pattern has at most ${PATTERN_MAX} characters` };
  if (COSTLY.test(body)) return { error: "this pattern could take very long: use a simpler one, or a glob" };
  try {
    const pattern = new RegExp(body, "iu");
    return { fits: (key) => pattern.test(key) };
  } catch {
    return { error: "invalid pattern" };
  }
}

function partTest(part: string): (key: string) => boolean {
  const wanted = part.toLowerCase();
  return (key) => key.toLowerCase().includes(wanted);
}

function globTest(glob: string): (key: string) => boolean {
  const matches = globMatcher(glob.toLowerCase());
  return (key) => matches(key.toLowerCase());
}
