import { useEffect, useState } from "react";
import { serverClock } from "./server.ts";

/** The current time on the server, for ages and durations, updated while the page is open. */
export function useNow(everyMs: number): number {
  const [nowMs, setNow] = useState(() => serverClock.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(serverClock.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}
