import type { Argument, Option } from "commander";
import type { Kind } from "./candidates.ts";

/** By what an argument or the value of an option is called in the help; the first that fits counts. */
const KINDS: readonly (readonly [name: RegExp, kinds: readonly Kind[]])[] = [
  [/^(?:words)$/, ["run", "metric"]],
  [/^(?:places)$/, ["run", "namespace"]],
  [/^(?:runs?|run[-_ ]?ids?|a|b|c|others|more)$/, ["run"]],
  [/^(?:scope)$/, ["scope"]],
  [/^(?:namespace|path|under)$/, ["namespace"]],
  [/^(?:metrics?|keys?)$/, ["metric"]],
  [/^(?:metric-key)$/, ["metric-key"]],
  [/^(?:list|field)$/, ["field"]],
  [/^(?:artifacts?|names)$/, ["artifact"]],
  [/^(?:principal|member|group|user)$/, ["principal"]],
  [/^(?:role)$/, ["role"]],
  [/^(?:tokens?)$/, ["token"]],
  [/^(?:backup)$/, ["backup"]],
  [/^(?:files?|folder|dir|directory|target|out|output)$/, ["file"]],
];

/** The candidates for an argument. */
export function kindsOfArgument(argument: Argument): readonly Kind[] {
  return kindsOf(argument.name());
}

/** The candidates for the value of an option, by the word in its brackets. */
export function kindsOfOption(option: Option): readonly Kind[] {
  return kindsOf(/[<[]([^>\].]+)/.exec(option.flags)?.[1] ?? "");
}

function kindsOf(name: string): readonly Kind[] {
  return KINDS.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? [];
}
