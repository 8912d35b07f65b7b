import { CommandError, EXIT } from "../cli.ts";
import { explain } from "../explain.ts";

/** No server, or no permission: everything else would fail in the same way. */
export async function isFatal(thrown: unknown): Promise<boolean> {
  const failure = await explain(thrown, "");
  if (!(failure instanceof CommandError)) return true;
  return failure.exitCode === EXIT.unreachable || failure.exitCode === EXIT.refused;
}
