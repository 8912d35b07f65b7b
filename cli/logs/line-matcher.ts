import { RE2JS } from "re2js";
import { CommandError, EXIT } from "../cli.ts";
import type { LineSelection } from "./read-lines.ts";

/** What the server's search would select, for lines that come through a stream. Patterns take linear time. */
export function lineMatcher({
  text,
  regex,
  ignoreCase,
}: Omit<LineSelection, "note">): (line: string) => boolean {
  if (text !== undefined && !ignoreCase) return (line) => line.includes(text);
  if (text === undefined && regex === undefined) return () => true;
  const source = text === undefined ? regex! : RE2JS.quote(text);
  try {
    const pattern = RE2JS.compile(ignoreCase ? `(?i:${source})` : source);
    return (line) => pattern.test(line);
  } catch (thrown) {
    throw new CommandError(`cannot use pattern "${source}": ${(thrown as Error).message}`, {
      exitCode: EXIT.usage,
    });
  }
}
