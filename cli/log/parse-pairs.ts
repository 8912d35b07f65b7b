import { isJson } from "#lang/json/parse.ts";
import { CommandError, EXIT } from "../cli.ts";
import { printable } from "../output/text.ts";

export type MetricValue = number | boolean | string;

/** `name=value`, divided at the first "=". Throws CommandError. */
export function splitPair(pair: string, what: string): [name: string, value: string] {
  const at = pair.indexOf("=");
  if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
  throw new CommandError(`cannot read ${what} "${printable(pair)}": expected name=value`, {
    exitCode: EXIT.usage,
  });
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const NAMED: ReadonlyMap<string, number> = new Map([
  ["nan", Number.NaN],
  ["inf", Infinity],
  ["+inf", Infinity],
  ["-inf", -Infinity],
  ["infinity", Infinity],
  ["+infinity", Infinity],
  ["-infinity", -Infinity],
]);

/** A number, true or false, or else a text. */
export function parseValue(text: string): MetricValue {
  if (NUMBER.test(text)) return Number(text);
  if (text === "true" || text === "false") return text === "true";
  return NAMED.get(text.toLowerCase()) ?? text;
}

/** JSON as it was written, so that 1 and 1.0 stay different; anything else is a text. */
export function paramJson(text: string): string {
  return isJson(text) ? text : JSON.stringify(text);
}
