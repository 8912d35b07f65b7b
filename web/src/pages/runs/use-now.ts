import { useEffect, useState } from "react";

const EVERY_MS = 5_000;

/** The time, for ages and durations; it moves every few seconds. */
export function useNow(): number {
  const [nowMs, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
