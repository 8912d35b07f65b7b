import type { Access } from "#core/access/access.ts";
import { ANONYMOUS, OWNER, type Identity } from "#core/access/caller.ts";
import type { ShownSession } from "#core/access/views.ts";
import { CairnError } from "#core/errors.ts";
import type { Sender } from "#wire/connect/core.ts";
import { isLocalCaller } from "./guard-request.ts";
import { isLoopbackHost } from "./guard.ts";
import type { SessionCookie } from "./session-cookie.ts";
import type { Settings } from "./settings.ts";

export interface Authentication {
  /** Throws `unauthenticated` for a credential that is wrong; without one the sender may be anonymous. */
  authenticate(sender: Sender): Identity;
  /** The admin's first token in clear, only on the start that made it. */
  newToken: string | undefined;
}

type Door = Pick<Settings, "host" | "auth" | "insecure" | "publicUrl" | "allowedHosts">;

/**
 * Who a caller is. Whoever shows a credential is judged by it. Without one, a server that listens to its
 * own machine only takes local callers for its owner, and any other knows nobody. One that is known under
 * a name of its own counts as any other: a proxy on this machine may stand before it and pass on the whole
 * world.
 *
 * A browser shows the cookie of its session with whatever it asks for, also when that session is long over: a
 * cookie that does not count is none.
 */
export async function openAuthentication(
  settings: Door,
  access: Pick<Access, "identify" | "identifySession" | "bootstrap">,
  cookie: Pick<SessionCookie, "sessionOf">,
): Promise<Authentication> {
  if (settings.insecure) return { authenticate: () => OWNER, newToken: undefined };
  const hasOwner = !settings.auth && isForThisMachine(settings);
  return {
    authenticate: (sender) => {
      const { address, headers } = sender;
      const { authorization } = headers;
      if (authorization !== undefined) return access.identify(secretOf(authorization));
      const session = cookie.sessionOf(sender);
      const holder = session === undefined ? undefined : holderOf(access, session);
      if (holder !== undefined) return holder;
      return hasOwner && isLocalCaller(address, headers) ? OWNER : ANONYMOUS;
    },
    newToken: hasOwner ? undefined : await access.bootstrap(),
  };
}

function holderOf(access: Pick<Access, "identifySession">, session: ShownSession): Identity | undefined {
  try {
    return access.identifySession(session);
  } catch (thrown) {
    if (CairnError.from(thrown).code === "unauthenticated") return undefined;
    throw thrown;
  }
}

function isForThisMachine({ host, publicUrl, allowedHosts }: Door): boolean {
  const names = [host, ...allowedHosts];
  if (publicUrl !== undefined) names.push(new URL(publicUrl).hostname);
  return names.every((name) => isLoopbackHost(name));
}

/**
 * The token in `Bearer TOKEN`, or in `Basic` as the password, for programs that only know names and
 * passwords: whom it belongs to is the token's own matter, so the name is not looked at.
 */
function secretOf(header: string | readonly string[]): string {
  const given = typeof header === "string" ? /^(Bearer|Basic) +(\S+)$/i.exec(header) : null;
  if (given?.[1]?.toLowerCase() === "bearer") return given[2]!;
  const pair = given === null ? "" : Buffer.from(given[2]!, "base64").toString();
  const colon = pair.indexOf(":");
  if (colon >= 0) return pair.slice(colon + 1);
  throw new CairnError("unauthenticated", "cannot accept the credential: it is no token", {
    reason: "BAD_CREDENTIAL",
    hint: "send the header `authorization: Bearer TOKEN`",
  });
}
