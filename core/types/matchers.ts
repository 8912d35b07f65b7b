import { quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { compileAnchored } from "#lang/query/pattern.ts";
import type { PatternDeadline } from "#lang/query/pattern-deadline.ts";
import { requireAtMost, requireKey, requireText } from "./check.ts";
import type { Labels } from "./series.ts";

/**
 * A condition on one label of a series, or on its key, as in Prometheus. A label that a series lacks counts as the
 * empty text. A regular expression is RE2 and must match the whole value.
 */
export interface Matcher {
  /** "" for the key. */
  label: string;
  op: MatchOp;
  value: string;
}

export const MATCH_OPS = ["=", "!=", "=~", "!~"] as const;
export type MatchOp = (typeof MATCH_OPS)[number];

/** `patterns` gathers those of one request: few, since compiling one takes milliseconds. */
export function requireMatchers(
  matchers: readonly Matcher[],
  patterns = new Set<string>(),
): readonly Matcher[] {
  requireAtMost(matchers.length, limits.matchersMax, "matchers");
  for (const { label, op, value } of matchers) {
    if (label !== "") requireKey(label, "label name", limits.labelBytesMax);
    if (op === "=" || op === "!=") requireText(value, limits.keyBytesMax, `value of matcher ${quote(label)}`);
    else if (!patterns.has(value)) {
      requireAtMost(patterns.add(value).size, limits.matchersMax, "different patterns in one request");
      compileAnchored(value, "matcher");
    }
  }
  return matchers;
}

/** The keys and label sets that all matchers select; tests key and labels separately, since many series share a key. */
export interface SeriesTest {
  /** The only key that can be selected; undefined where it may be any. */
  key: string | undefined;
  matchesKey(key: string): boolean;
  /** undefined where every label set is selected. */
  matchesLabels: ((labels: Labels) => boolean) | undefined;
}

export function compileMatchers(matchers: readonly Matcher[], deadline: PatternDeadline): SeriesTest {
  const compiled = matchers.map((matcher) => ({ label: matcher.label, test: testOf(matcher, deadline) }));
  const ofKey = compiled.filter(({ label }) => label === "");
  const ofLabels = compiled.filter(({ label }) => label !== "");
  return {
    key: matchers.find(({ label, op }) => label === "" && op === "=")?.value,
    matchesKey: (key) => ofKey.every(({ test }) => test(key)),
    matchesLabels:
      ofLabels.length === 0
        ? undefined
        : (labels) => ofLabels.every(({ label, test }) => test(labelOf(labels, label))),
  };
}

function labelOf(labels: Labels, name: string): string {
  return labels.find(([label]) => label === name)?.[1] ?? "";
}

function testOf({ op, value }: Matcher, deadline: PatternDeadline): (text: string) => boolean {
  switch (op) {
    case "=":
      return (text) => text === value;
    case "!=":
      return (text) => text !== value;
    case "=~":
      return deadline.test(compileAnchored(value, "matcher"));
    case "!~": {
      const matches = deadline.test(compileAnchored(value, "matcher"));
      return (text) => !matches(text);
    }
  }
}
