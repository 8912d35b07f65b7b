import { z } from "zod";
import type { Access } from "#core/access/access.ts";
import { CairnError } from "#core/errors.ts";
import { readBody } from "#wire/kit/body.ts";
import { sendNothing } from "#wire/kit/respond.ts";
import type { Call, Route } from "#wire/kit/router.ts";
import type { SessionCookie } from "./session-cookie.ts";

/** A token, or a name and a password of any length that is allowed. */
const BODY_BYTES_MAX = 8_192;
const SESSION_DAYS = 1;

const Credential = z.union([
  z.strictObject({ token: z.string() }),
  z.strictObject({ name: z.string(), password: z.string() }),
]);

/**
 * Signing in and out with a browser. POST exchanges a token, or a name and a password, for a cookie; DELETE ends it. Neither answers with a secret that a
 * script could read.
 */
export function sessionRoutes(access: Access, cookie: SessionCookie): Route[] {
  /** Ends the session that the browser had before; one that does not count any more is no matter. */
  const end = async ({ request: { headers } }: Call): Promise<void> => {
    const secret = cookie.secretOf(headers);
    if (secret === undefined) return;
    try {
      await access.logOut({ ...access.identify(secret), permission: "public" });
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
        const secret = await begin(access, await readCredential(call, account));
        await end(call);
        response.setHeader("set-cookie", cookie.set(request.headers, secret));
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

/** The secret of a token for this session alone, worth no more than the credential. */
async function begin(access: Access, credential: z.infer<typeof Credential>): Promise<string> {
  if ("password" in credential) return (await access.logIn(credential)).secret;
  const caller = { ...access.identify(credential.token), permission: "read" as const };
  const asked = { principal: "", name: "web session", role: undefined, namespaces: [], days: SESSION_DAYS };
  return (await access.createToken(caller, asked)).secret;
}

async function readCredential(
  { request }: Call,
  account: Call["account"],
): Promise<z.infer<typeof Credential>> {
  const body = await readBody(request, {
    maxBytes: BODY_BYTES_MAX,
    decompressedBytesMax: BODY_BYTES_MAX,
    account,
  });
  const parsed = Credential.safeParse(parseJson(body.toString()));
  if (parsed.success) return parsed.data;
  // Without a word of what came: it may be a password.
  throw new CairnError("invalid", "cannot sign in: the body is no credential", {
    hint: 'send {"token": …} or {"name": …, "password": …}',
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
