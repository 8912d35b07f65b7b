import { Cairn } from "#sdk/client.ts";
import { withCallPositions } from "./call-positions.ts";
import { pageHeaders } from "./page-key.ts";
import { ServerClock } from "./server-clock.ts";

export const serverClock = new ServerClock();

/** The server this page came from. The browser sends the session's cookie along, and the page its key. */
export const cairn = new Cairn(
  { url: location.origin },
  { interceptors: [serverClock.interceptor], wrap: withCallPositions, headers: pageHeaders },
);
