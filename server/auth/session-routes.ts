import type { Access } from "#core/access/access.ts";
import type { Caller } from "#core/access/caller.ts";
import type { CreatedSession } from "#core/access/views.ts";
import { CairnError } from "#lang/errors.ts";
import { senderOf } from "#wire/kit/sender.ts";
import { readBody } from "#wire/kit/body.ts";
import type { HttpResponse } from "#wire/kit/http.ts";
import { sendNothing } from "#wire/kit/respond.ts";
import type { Call, Route } from "#wire/kit/router.ts";
import type { Authentication } from "./authentication.ts";
import { PAGE_HEADER, type SessionCookie } from "./session-cookie.ts";

/** A token, or a name and a password of any length that is allowed. */
const BODY_BYTES_MAX = 8_192;

type Credential = { token: string } | { name: string; password: string };

/**
 * Signing in and out with a browser. POST exchanges a token, or a name and a password, for a cookie that no script can
 * read, and a key for the page that is useless without it; DELETE ends both.
 */
export function sessionRoutes(
  access: Access,
  cookie: SessionCookie,
  { ownerSessions: owner, signInLink }: Pick<Authentication, "ownerSessions" | "signInLink">,
): Route[] {
  /** Ends the session that the browser had before; an invalid one is ignored. */
  const end = async ({ request: { headers }, caller: { address } }: Call): Promise<void> => {
    const secret = cookie.secretOf(headers);
    if (secret === undefined || owner.end(secret)) return;
    try {
      // Also when the page has lost its key: this only affects the session itself.
      const holder = await access.identifySession({ secret, onlyReads: true });
      await access.logOut({ ...holder, permission: "public", address });
    } catch (thrown) {
      if (CairnError.from(thrown).code !== "unauthenticated") throw thrown;
    }
  };
  return [
    {
      method: "POST",
      path: "/session",
      permission: "public",
      handler: async (call) => {
        const { request, response, account } = call;
        const credential = await readCredential(call, account);
        const ofOwner = "token" in credential ? owner.open(senderOf(request), credential.token) : undefined;
        const caller = { ...call.caller, signal: untilClosed(response) };
        const { secret, pageKey } = ofOwner ?? (await begin(access, caller, byLink(credential, signInLink)));
        await end(call);
        response.setHeader("set-cookie", cookie.set(request.headers, secret));
        response.setHeader(PAGE_HEADER, pageKey);
        sendNothing(response);
      },
    },
    {
      method: "DELETE",
      path: "/session",
      permission: "public",
      handler: async (call) => {
        await end(call);
        call.response.setHeader("set-cookie", cookie.clear(call.request.headers));
        sendNothing(call.response);
      },
    },
  ];
}

/** Aborted when the browser has disconnected, or is answered. */
function untilClosed(response: HttpResponse): AbortSignal {
  const closed = new AbortController();
  response.once("close", () => closed.abort());
  return closed.signal;
}

/** The token behind a link, which can be used once; any other credential as it is. */
function byLink(credential: Credential, link: Authentication["signInLink"]): Credential {
  const token = "token" in credential ? link?.take(credential.token) : undefined;
  return token === undefined ? credential : { token };
}

/** A session with at most the rights of the credential. */
async function begin(access: Access, caller: Caller, credential: Credential): Promise<CreatedSession> {
  if ("password" in credential) return access.logInSession(caller, credential);
  const { address } = caller;
  const holder = { ...(await access.identify(credential.token)), permission: "read" as const, address };
  return access.createSession(holder);
}

async function readCredential({ request }: Call, account: Call["account"]): Promise<Credential> {
  const body = await readBody(request, {
    maxBytes: BODY_BYTES_MAX,
    decompressedBytesMax: BODY_BYTES_MAX,
    account,
  });
  const credential = credentialOf(parseJson(body.toString()));
  if (credential !== undefined) return credential;
  // Without quoting the body: it may be a password.
  throw new CairnError("invalid", "cannot sign in: the body is not a credential", {
    hint: 'send {"token": …} or {"name": …, "password": …}',
  });
}

/** undefined for anything else, and for a credential with more in it. */
function credentialOf(json: unknown): Credential | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  const { token, name, password, ...more } = json as Record<string, unknown>;
  if (Object.keys(more).length > 0) return undefined;
  if (typeof token === "string" && name === undefined && password === undefined) return { token };
  const isPair = typeof name === "string" && typeof password === "string" && token === undefined;
  return isPair ? { name, password } : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
