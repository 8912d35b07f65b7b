import { CommandError, EXIT } from "../cli.ts";
import { explain } from "../explain.ts";

/** Nobody there, or no right: everything else would fail just so. */
export async function isFatal(thrown: unknown): Promise<boolean> {
  const told = await explain(thrown, "");
  if (!(told instanceof CommandError)) return true;
  return told.exitCode === EXIT.unreachable || told.exitCode === EXIT.refused;
}
