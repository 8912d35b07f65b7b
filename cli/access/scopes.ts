import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Scope, ScopeSchema } from "#proto/cairn/v1/access_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { CommandError, EXIT } from "../cli.ts";
import { findRun } from "../find-run.ts";
import { printable } from "../output/text.ts";

export const SCOPE_HELP = "a namespace, `/` for everything, or run:RUN";

/**
 * Parses a scope. The root must be written as `/`: an empty argument is more likely an unset variable, and would grant
 * access to everything.
 */
export async function findScope(
  server: Cairn,
  text: string,
  artifact: string | undefined,
): Promise<MessageInitShape<typeof ScopeSchema>> {
  if (text.startsWith("run:")) {
    const { id } = await findRun(server, text.slice("run:".length));
    return { runId: id, ...(artifact !== undefined && { artifact }) };
  }
  if (artifact !== undefined) {
    throw new CommandError(`cannot use --artifact with "${text}": only runs have artifacts`, {
      exitCode: EXIT.usage,
      hint: "name the run as run:RUN",
    });
  }
  if (text === "") {
    throw new CommandError('cannot use scope "": it is empty', {
      exitCode: EXIT.usage,
      hint: "write `/` for everything",
    });
  }
  return { namespace: text === "/" ? "" : text.replace(/\/+$/, "") };
}

export function scopeWords(scope: Scope | undefined): string {
  if (scope?.artifact) return `artifact ${printable(scope.artifact)} of run:${scope.runId}`;
  if (scope?.runId) return `run:${scope.runId}`;
  return printable(scope?.namespace || "/");
}
