import type { Clock } from "#base/clock.ts";
import type { Access } from "#core/access/access.ts";
import type { Administrator } from "#core/access/administrators.ts";
import { ANONYMOUS, OWNER, type Identity } from "#core/access/caller.ts";
import type { ShownSession } from "#core/access/views.ts";
import { CairnError } from "#lang/errors.ts";
import type { Sender } from "#wire/kit/sender.ts";
import { isLocalCaller } from "../listen/guard-request.ts";
import { isLoopbackHost } from "../listen/guard.ts";
import { LocalSecret, type OwnerSession } from "./local-secret.ts";
import { canSeePeers, OwnPeers } from "./peer-uid.ts";
import { SignInLink } from "./sign-in-link.ts";
import type { SessionCookie } from "./session-cookie.ts";
import type { Settings } from "../settings/settings.ts";

export interface Authentication {
  /** As Admission.authenticate; without a credential the sender may be the owner. */
  authenticate(sender: Sender): Identity | Promise<Identity>;
  /** Whether a credential is always required, also of the user who started the server. */
  needsCredential: boolean;
  /** The secret of the owner, where the system cannot identify local callers; undefined elsewhere. */
  localSecret: LocalSecret | undefined;
  /** Sessions of the owner in a browser. */
  ownerSessions: OwnerSessions;
  /** The admin's first token in clear, only on the start that made it. */
  newToken: string | undefined;
  /** The link that signs its holder in to a browser once; only on that start, too. */
  signInLink: SignInLink | undefined;
  /** The existing administrators, if this start must list them. */
  administrators: readonly Administrator[];
}

export interface OwnerSessions {
  /** undefined for a credential that is not the local secret. */
  open(sender: Sender, credential: string): OwnerSession | undefined;
  /** False for what is not a session of the owner. */
  end(session: string): boolean;
}

type Door = Pick<Settings, "host" | "auth" | "insecure" | "publicUrl" | "allowedHosts" | "localSecret">;

const NOT_NEEDED = {
  needsCredential: false,
  localSecret: undefined,
  newToken: undefined,
  signInLink: undefined,
  administrators: [],
};
const NO_SESSIONS: OwnerSessions = { open: () => undefined, end: () => false };

/**
 * Authenticates callers. A caller with a credential is authenticated by it. Without one, a server that only listens on
 * its own machine treats processes of the user who started it as its owner, and any other server refuses the call. A
 * server with a public name counts as any other: a proxy on this machine may forward requests from anywhere.
 *
 * Whose process calls is in the kernel's table of sockets (peer-uid.ts). Where there is none, or with
 * `--local-secret`, the owner sends a secret that only this user can read (local-secret-file.ts).
 *
 * A browser sends the cookie of its session with every request, also when that session has ended: an invalid cookie is
 * ignored.
 */
export async function openAuthentication(
  settings: Door,
  access: Pick<Access, "identify" | "identifySession" | "bootstrap" | "reviewAdministrators">,
  cookie: Pick<SessionCookie, "sessionOf">,
  clock: Clock,
): Promise<Authentication> {
  if (settings.insecure) return { ...NOT_NEEDED, authenticate: () => OWNER, ownerSessions: NO_SESSIONS };
  const hasOwner = !settings.auth && isForThisMachine(settings);
  const local = hasOwner && (settings.localSecret || !canSeePeers()) ? new LocalSecret(clock) : undefined;
  const peers = hasOwner && local === undefined ? new OwnPeers() : undefined;
  const isLocal = ({ address, headers }: Sender) => isLocalCaller(address, headers);
  const administrators = hasOwner ? [] : await access.reviewAdministrators();
  const newToken = hasOwner ? undefined : await access.bootstrap();
  return {
    authenticate: (sender) => {
      const { authorization } = sender.headers;
      if (authorization !== undefined) {
        const secret = secretOf(authorization);
        return local?.is(secret) === true && isLocal(sender) ? OWNER : access.identify(secret);
      }
      const session = cookie.sessionOf(sender);
      const byPeer = () =>
        peers !== undefined && isLocal(sender) && peers.has(sender.connection) ? OWNER : ANONYMOUS;
      if (session === undefined) return byPeer();
      const owner = isLocal(sender) ? local?.identify(session) : undefined;
      return owner ?? holderOf(access, session, byPeer);
    },
    needsCredential: peers === undefined,
    localSecret: local,
    ownerSessions: {
      open: (sender, credential) =>
        local?.is(credential) === true && isLocal(sender) ? local.openSession() : undefined,
      end: (session) => local?.endSession(session) === true,
    },
    administrators,
    newToken,
    signInLink: newToken === undefined ? undefined : new SignInLink(newToken, clock),
  };
}

/** `otherwise` for an invalid session. */
function holderOf(
  access: Pick<Access, "identifySession">,
  session: ShownSession,
  otherwise: () => Identity,
): Identity | Promise<Identity> {
  const orElse = (thrown: unknown): Identity => {
    if (CairnError.from(thrown).code === "unauthenticated") return otherwise();
    throw thrown;
  };
  try {
    const holder = access.identifySession(session);
    return holder instanceof Promise ? holder.catch(orElse) : holder;
  } catch (thrown) {
    return orElse(thrown);
  }
}

function isForThisMachine({ host, publicUrl, allowedHosts }: Door): boolean {
  const names = [host, ...allowedHosts];
  if (publicUrl !== undefined) names.push(new URL(publicUrl).hostname);
  return names.every((name) => isLoopbackHost(name));
}

/**
 * The token in `Bearer TOKEN`, or in `Basic` as the password, for programs that only support names and passwords. The
 * token identifies its principal, so the name is ignored.
 */
function secretOf(header: string | readonly string[]): string {
  const given = typeof header === "string" ? /^(Bearer|Basic) +(\S+)$/i.exec(header) : null;
  if (given?.[1]?.toLowerCase() === "bearer") return given[2]!;
  const pair = given === null ? "" : Buffer.from(given[2]!, "base64").toString();
  const colon = pair.indexOf(":");
  if (colon >= 0) return pair.slice(colon + 1);
  throw new CairnError("unauthenticated", "cannot accept the credential: it is not a token", {
    reason: "BAD_CREDENTIAL",
    hint: "send the header `authorization: Bearer TOKEN`",
  });
}
