import { CaFileError } from "../ca-file.ts";
import type { ServerAddress } from "../client.ts";
import { DEFAULT_SERVER, findServer, normalizeServer, type FoundServer } from "../login.ts";
import type { InitOptions } from "./init-options.ts";
import type { Notices } from "./notices.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The server to write to. Throws for an invalid address in the program; a login file or an environment that
 * cannot be used is reported, and training continues.
 */
export async function chooseServer(
  options: InitOptions,
  env: Environment,
  notices: Notices,
): Promise<FoundServer> {
  const { server, token } = options;
  if (server !== undefined) normalizeServer(server);
  try {
    return await findServer({ server, token }, env);
  } catch (thrown) {
    if (thrown instanceof CaFileError) {
      notices.once("ca-file", thrown.message);
      return await chooseServer(options, { ...env, CAIRN_CA_FILE: "" }, notices);
    }
    const cause = thrown instanceof Error ? thrown.message : String(thrown);
    const url = server === undefined ? DEFAULT_SERVER : normalizeServer(server);
    notices.once("server", `${cause}\n  this run goes to ${url}`);
    const by = server === undefined ? "default" : "option";
    return { url, by, ...(token !== undefined && { token }) };
  }
}

/** The token for the server. It is looked up again when the server refuses it. */
export function followLogin(
  { url, token }: ServerAddress,
  options: InitOptions,
  env: Environment,
  onChange: (found: ServerAddress) => void,
): { token: () => string | undefined; renew: () => Promise<void> } {
  let current = token;
  return {
    token: () => current,
    /** The user may have logged in meanwhile, or the server keeps another secret since it was started again. */
    renew: async () => {
      const found = await findServer({ server: url, token: options.token }, env).catch(() => undefined);
      if (found === undefined || found.token === current) return;
      current = found.token;
      onChange(found);
    },
  };
}
