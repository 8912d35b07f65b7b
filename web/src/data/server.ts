import { Cairn } from "#sdk/client.ts";

/** The server this page came from. The browser sends the session's cookie along. */
export const cairn = new Cairn({ url: location.origin });
