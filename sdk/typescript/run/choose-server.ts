import type { ServerAddress } from "../client.ts";
import { DEFAULT_SERVER, findServer, normalizeServer } from "../login.ts";
import type { InitOptions } from "./init-options.ts";
import type { Notices } from "./notices.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The server to write to. Throws for an address in the program that is none; a login file or an environment that
 * cannot be used is told, and training goes on.
 */
export async function chooseServer(
  options: InitOptions,
  env: Environment,
  notices: Notices,
): Promise<ServerAddress> {
  const { server, token } = options;
  if (server !== undefined) normalizeServer(server);
  try {
    return await findServer({ server, token }, env);
  } catch (thrown) {
    const cause = thrown instanceof Error ? thrown.message : String(thrown);
    const url = server === undefined ? DEFAULT_SERVER : normalizeServer(server);
    notices.once("server", `${cause}\n  this run goes to ${url}`);
    return { url, ...(token !== undefined && { token }) };
  }
}
