import { inspect } from "node:util";
import { limits } from "#lang/limits.ts";
import { cutText } from "./problems.ts";

export interface LineOptions {
  /** "stdout" by default. */
  stream?: string;
  /** Now by default. */
  timeUs?: number;
}

/** Each line of a text, without the line break at its end. */
export function linesOf(text: unknown): string[] {
  const lines = typeof text === "string" ? text : inspect(text);
  return lines.replace(/\r?\n$/, "").split(/\r?\n/);
}

/** The name of a stream as the server accepts it. */
export function streamName(stream: string): string {
  return cutText(stream, limits.logStreamBytesMax).replaceAll(/[\u0000-\u001f\u007f]/g, " ") || "stdout";
}
