import { httpFailure } from "#sdk/http-failure.ts";
import { connectAgain } from "./live/live.ts";
import { keepPageKey, PAGE_HEADER } from "./page-key.ts";
import { queryClient } from "./queries.ts";
import { cairn } from "./server.ts";
import { noteSession } from "./signed-out.ts";

/** A token, or a name and its password. Either is exchanged for a cookie that scripts cannot read. */
export type Credential = { token: string } | { name: string; password: string };

export async function signIn(credential: Credential): Promise<void> {
  const response = await ask("POST", credential);
  keepPageKey(response.headers.get(PAGE_HEADER) ?? "");
  noteSession(true);
  // No data of the previous user is kept.
  queryClient.clear();
  connectAgain();
}

/** Ends the session on the server, too, so that a copy of the cookie is invalid afterwards. */
export async function signOut(): Promise<void> {
  await ask("DELETE");
  keepPageKey("");
  noteSession(false);
}

/** Only after the last page that would request it again is closed. */
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
