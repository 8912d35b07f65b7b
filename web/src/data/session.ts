import { httpFailure } from "#sdk/http-failure.ts";
import { connectAgain } from "./live/live.ts";
import { keepPageKey, PAGE_HEADER } from "./page-key.ts";
import { queryClient } from "./queries.ts";
import { cairn } from "./server.ts";
import { noteSession } from "./signed-out.ts";

/** A token somebody has, or a name and its password. Either is exchanged for a cookie that no script can read. */
export type Credential = { token: string } | { name: string; password: string };

export async function signIn(credential: Credential): Promise<void> {
  const response = await ask("POST", credential);
  keepPageKey(response.headers.get(PAGE_HEADER) ?? "");
  noteSession(true);
  // Nothing of the person before is kept.
  queryClient.clear();
  connectAgain();
}

/** Ends the session on the server, too: a copy of the cookie is worth nothing afterwards. */
export async function signOut(): Promise<void> {
  await ask("DELETE");
  keepPageKey("");
  noteSession(false);
}

/** Once no page is there any more that would ask for it again. */
export function forgetSession(): void {
  queryClient.clear();
}

async function ask(method: "POST" | "DELETE", body?: Credential): Promise<Response> {
  const response = await cairn.fetch("/session", {
    method,
    ...(body !== undefined && {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  });
  if (response.ok) return response;
  throw httpFailure("cannot use the session", response, await response.text());
}
