import { createHash, timingSafeEqual } from "node:crypto";
import { newToken } from "#base/ids.ts";
import { ADMIN, ANONYMOUS, OWNER, type Principal } from "#core/access/caller.ts";
import { CairnError } from "#core/errors.ts";
import type { RunStore } from "#core/ports/run-store.ts";
import type { Sender } from "#wire/connect/core.ts";
import { isLocalCaller } from "./guard-request.ts";
import { isLoopbackHost } from "./guard.ts";
import type { Settings } from "./settings.ts";

const SETTING = "admin-token-sha256";

export interface Authentication {
  authenticate(sender: Sender): Principal;
  /** The admin token in clear, only on the start that made it. */
  newToken: string | undefined;
}

/**
 * Who a caller is. A server that listens to its own machine only takes local callers for its owner; any
 * other asks for the admin token, which it makes at its first start, shows once and keeps as a hash. One
 * that is known under a name of its own counts as any other: a proxy on this machine may stand before it
 * and pass on the whole world.
 */
export async function openAuthentication(
  settings: Pick<Settings, "host" | "insecure" | "publicUrl" | "allowedHosts">,
  store: RunStore,
): Promise<Authentication> {
  if (settings.insecure) return { authenticate: () => OWNER, newToken: undefined };
  if (isForThisMachine(settings)) {
    return {
      authenticate: ({ address, headers }) => (isLocalCaller(address, headers) ? OWNER : ANONYMOUS),
      newToken: undefined,
    };
  }
  const token = newToken("cairn_");
  const fresh = hashOf(token).toString("hex");
  const kept = await store.initSetting(SETTING, fresh);
  const expected = Buffer.from(kept, "hex");
  return {
    authenticate: ({ headers }) => byToken(headers["authorization"], expected),
    newToken: kept === fresh ? token : undefined,
  };
}

function isForThisMachine({
  host,
  publicUrl,
  allowedHosts,
}: Pick<Settings, "host" | "publicUrl" | "allowedHosts">): boolean {
  const names = [host, ...allowedHosts];
  if (publicUrl !== undefined) names.push(new URL(publicUrl).hostname);
  return names.every((name) => isLoopbackHost(name));
}

function byToken(header: string | readonly string[] | undefined, expected: Buffer): Principal {
  if (header === undefined) return ANONYMOUS;
  const token = typeof header === "string" ? /^Bearer +(\S+)$/i.exec(header)?.[1] : undefined;
  if (token !== undefined && timingSafeEqual(hashOf(token), expected)) return ADMIN;
  throw new CairnError("unauthenticated", "cannot accept the credential: it is not a valid token", {
    reason: "BAD_CREDENTIAL",
    hint: "send the header `authorization: Bearer TOKEN` with the token the server printed at its first start",
  });
}

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
