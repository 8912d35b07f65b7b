import { RUN_STATUSES } from "../statuses.ts";
import type { Literal } from "./ast.ts";
import { type Cursor, shown } from "./cursor.ts";
import { fieldType, type FieldType } from "./fields.ts";
import type { NamedField } from "./parse-field.ts";
import { suggestion } from "./syntax-error.ts";
import { parseTimeUs } from "./time.ts";

/** A literal that fits the field. A comparison that could never be true is refused here. */
export function parseLiteral(
  cursor: Cursor,
  { field, name }: NamedField,
  { nowUs, me }: { nowUs: number; me?: string },
): Literal {
  const token = cursor.peek();
  const type = fieldType(field);
  if (isMe(token.kind === "word" ? token.text : "") && field.of === "run" && field.name === "creator") {
    if (me === undefined) throw cursor.errorAt(token, "me is unknown here", { hint: ADVICE.text });
    cursor.step();
    return me;
  }
  const written = parseWritten(cursor, nowUs);
  const value = fit(type, written);
  if (value !== undefined) return value;
  if (written.kind === "string" && type === "status") {
    const problem = `unknown status ${shown(written.value)}${suggestion(written.value, RUN_STATUSES)}`;
    throw cursor.errorAt(token, problem, { hint: ADVICE.status });
  }
  throw cursor.errorAt(token, `${name} does not compare with ${DESCRIPTIONS[written.kind]}`, {
    hint: ADVICE[type],
  });
}

/** Whether a word means the caller where it is compared with the creator of a run. */
export function isMe(word: string): boolean {
  return word.toLowerCase() === "me";
}

/** As written in the query; a time relative to now has become microseconds. */
type Written =
  | { kind: "number"; value: number }
  | { kind: "string"; value: string }
  | { kind: "bool"; value: boolean }
  | { kind: "span"; seconds: number }
  | { kind: "time"; timeUs: number };

const DESCRIPTIONS: Readonly<Record<Written["kind"], string>> = {
  number: "a number",
  string: "this text",
  bool: "true or false",
  span: "a span of time",
  time: "a time",
};

const ADVICE: Readonly<Record<FieldType, string>> = {
  any: "compare with a number, a text in quotes, true or false",
  text: "compare with a text in quotes",
  status: `statuses are ${RUN_STATUSES.join(", ")}`,
  number: "compare with a number",
  seconds: "compare with seconds or a span such as 90s or 2h",
  time: 'compare with now, now-7d, a date such as "2026-01-31" or "2026-01-31T10:00:00Z", or microseconds',
};

function fit(type: FieldType, written: Written): Literal | undefined {
  switch (written.kind) {
    case "number":
      return type === "text" || type === "status" ? undefined : written.value;
    case "string":
      if (type === "time") return parseTimeUs(written.value);
      if (type === "status") return RUN_STATUSES.find((status) => status === written.value);
      return type === "any" || type === "text" ? written.value : undefined;
    case "bool":
      return type === "any" ? written.value : undefined;
    case "span":
      return type === "seconds" ? written.seconds : undefined;
    case "time":
      return type === "time" ? written.timeUs : undefined;
  }
}

function parseWritten(cursor: Cursor, nowUs: number): Written {
  const negative = cursor.takeSymbol("-");
  const signed = negative || cursor.takeSymbol("+");
  const token = cursor.peek();
  if (token.kind === "number") {
    cursor.step();
    return { kind: "number", value: negative ? -token.value : token.value };
  }
  if (cursor.takeWord("inf") || cursor.takeWord("infinity")) {
    return { kind: "number", value: negative ? -Infinity : Infinity };
  }
  if (signed) throw cursor.unexpected("a number");
  if (token.kind === "string") {
    cursor.step();
    return { kind: "string", value: token.value };
  }
  if (token.kind === "span") {
    cursor.step();
    return { kind: "span", seconds: token.seconds };
  }
  if (cursor.takeWord("nan")) return { kind: "number", value: Number.NaN };
  if (cursor.takeWord("true")) return { kind: "bool", value: true };
  if (cursor.takeWord("false")) return { kind: "bool", value: false };
  if (cursor.takeWord("now")) return { kind: "time", timeUs: parseSpans(cursor, nowUs) };
  if (cursor.atWord("null")) {
    throw cursor.errorAt(token, "nothing compares with null", { hint: "write is null or is not null" });
  }
  const isText = token.kind === "word" || token.kind === "path";
  throw cursor.unexpected("a value", ["true", "false", "now"], isText ? "a text needs quotes" : undefined);
}

/** The `-7d` of `now-7d`, any number of them. */
function parseSpans(cursor: Cursor, nowUs: number): number {
  let timeUs = nowUs;
  for (;;) {
    const earlier = cursor.takeSymbol("-");
    if (!earlier && !cursor.takeSymbol("+")) return timeUs;
    const token = cursor.peek();
    if (token.kind !== "span") throw cursor.unexpected("a span such as 7d (units s, m, h, d, w)");
    cursor.step();
    timeUs += (earlier ? -1 : 1) * Math.round(token.seconds * 1e6);
  }
}
