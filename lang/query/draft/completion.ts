/** What may follow in a query that is being typed. */
import { RUN_STATUSES } from "../../statuses.ts";
import { findField, printField } from "../field-text.ts";
import { fieldType, METRIC_STATS, RUN_FIELDS } from "../fields.ts";
import { quoteText } from "../quote.ts";
import { piecesOf, type Piece } from "./pieces.ts";

export interface Option {
  text: string;
  /** A note about it, on the right. */
  hint: string;
}

export interface Completion {
  /** The part of the query that an option replaces. */
  from: number;
  to: number;
  options: Option[];
}

/** The keys and values that are offered. */
interface Known {
  readonly params: readonly string[];
  readonly tags: readonly string[];
  readonly metrics: readonly string[];
  /** Values per field, as a query writes them. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

const OPTIONS_MAX = 12;
const TIMES = ["now-1h", "now-24h", "now-7d", "now-30d"];
const NUMBER_OPERATORS = ["<", "<=", ">", ">=", "=", "!=", "is null", "is not null"];
const TEXT_OPERATORS = ["=", "!=", "in (", "like", "ilike", "~", "!~", "is null", "is not null"];

/** Completions at the cursor: a field, then an operator, then a value, then and/or. */
export function completeQuery(query: string, cursor: number, known: Known): Completion {
  const before = piecesOf(query.slice(0, cursor));
  const last = before.at(-1);
  const isPartial = last !== undefined && last.kind !== "space" && last.kind !== "operator";
  const partial = isPartial ? last.text : "";
  const past = (isPartial ? before.slice(0, -1) : before).filter(({ kind }) => kind !== "space");
  const from = cursor - partial.length;
  return { from, to: cursor, options: choose(optionsAfter(past, known), partial) };
}

function optionsAfter(past: readonly Piece[], known: Known): Option[] {
  const words = past.map(({ text }) => text.toLowerCase());
  const last = past.at(-1);
  const isOrder = words.some((word, i) => word === "by" && words[i - 1] === "order");
  if (last === undefined)
    return [...fields(known), { text: "not", hint: "" }, { text: "order by", hint: "" }];
  const word = words.at(-1)!;
  if (isOrder) {
    if (word === "by" || word === ",") return fields(known);
    return last.kind === "field" ? plain(["desc", "asc"]) : [];
  }
  if (word === "order") return plain(["by"]);
  if (word === "and" || word === "or") return [...fields(known), ...plain(["not"])];
  if (word === "not" && past.at(-2)?.kind !== "field") return fields(known);
  if (word === "not") return plain(["in (", "like", "ilike", "under"]);
  if (word === "is") return plain(["null", "not null"]);
  if (last.kind === "field") return plain(operatorsOf(last.text));
  const field = past.findLast(({ kind }) => kind === "field");
  const isList =
    words.lastIndexOf("(") > words.lastIndexOf(")") && words[words.lastIndexOf("(") - 1] === "in";
  if (word === "(" && !isList) return fields(known);
  if (word === "(" || word === "," || isOperator(last))
    return field === undefined ? [] : valuesOf(field.text, known);
  return isList ? plain([")", ","]) : plain(["and", "or", "order by"]);
}

function isOperator({ kind, text }: Piece): boolean {
  return (kind === "operator" && text !== ")") || /^(?:like|ilike|under)$/i.test(text);
}

function plain(texts: readonly string[]): Option[] {
  return texts.map((text) => ({ text, hint: "" }));
}

function fields({ params, tags, metrics }: Known): Option[] {
  return [
    ...metrics.flatMap((key) =>
      METRIC_STATS.map((stat) => ({ text: printField({ of: "metric", key, stat }), hint: "metric" })),
    ),
    ...params.map((key) => ({ text: printField({ of: "param", key }), hint: "param" })),
    ...tags.map((key) => ({ text: printField({ of: "tag", key }), hint: "tag" })),
    ...RUN_FIELDS.map((text) => ({ text, hint: "field" })),
  ];
}

function operatorsOf(text: string): readonly string[] {
  const field = findField(text);
  if (field === undefined) return [];
  if (field.of === "run" && field.name === "namespace") return ["under", ...TEXT_OPERATORS];
  switch (fieldType(field)) {
    case "status":
      return ["=", "!=", "in ("];
    case "text":
      return TEXT_OPERATORS;
    case "any":
      return [...new Set([...NUMBER_OPERATORS, ...TEXT_OPERATORS])];
    default:
      return NUMBER_OPERATORS;
  }
}

function valuesOf(text: string, { values }: Known): Option[] {
  const field = findField(text);
  if (field === undefined) return [];
  switch (fieldType(field)) {
    case "status":
      return plain(RUN_STATUSES.map(quoteText));
    case "time":
      return plain(TIMES);
    default: {
      const known = plain(values.get(printField(field)) ?? []);
      return printField(field) === "creator" ? [{ text: "me", hint: "your runs" }, ...known] : known;
    }
  }
}

/** Prefix matches come before other matches; the exact text is not an option. */
function choose(options: readonly Option[], partial: string): Option[] {
  const wanted = partial.toLowerCase();
  const bare = wanted.replace(/^["'`]/, "");
  const begin = options.filter(({ text }) => text.toLowerCase().startsWith(wanted));
  const hold = options.filter(
    ({ text }) => !text.toLowerCase().startsWith(wanted) && holds(text.toLowerCase(), bare),
  );
  const found = [...begin, ...hold].slice(0, OPTIONS_MAX);
  return found.length === 1 && found[0]!.text.toLowerCase() === wanted ? [] : found;
}

function holds(text: string, part: string): boolean {
  return part !== "" && text.includes(part);
}

/** The query with an option inserted, and the new position of the cursor. */
export function accept(
  query: string,
  { from, to }: Completion,
  { text }: Option,
): { query: string; cursor: number } {
  const after = query.slice(to);
  const space = after.startsWith(" ") || text.endsWith("(") ? "" : " ";
  const put = query.slice(0, from) + text + space;
  return { query: put + after, cursor: put.length + (space === "" && after.startsWith(" ") ? 1 : 0) };
}
