import type { QueryKey } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import { connectionNow, onConnection, subscribe } from "./live.ts";
import type { Connection, LiveEvent, Subscription } from "./types.ts";
import { askedTimes } from "../queries.ts";
import { throttle } from "../throttle.ts";

/**
 * Hears of what the subscription names while the component is there; undefined for nothing. It is compared by its content, so it may be made anew on every draw; the
 * latest `onEvent` is the one that is called.
 *
 * `askedMs` says when what is shown was asked for, by Date.now(): should anything have happened since, what comes first is `stale`. Lines of a log have numbers and need
 * no time.
 */
export function useLive(
  subscription: Subscription | undefined,
  askedMs: () => number,
  onEvent: (event: LiveEvent) => void,
): void {
  const tell = useEffectEvent(onEvent);
  const since = useEffectEvent(askedMs);
  const key = JSON.stringify(subscription, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  useEffect(() => {
    if (subscription === undefined) return undefined;
    return subscribe(subscription, since(), (event) => tell(event));
    // The key stands for the subscription.
  }, [key]);
}

export function useConnection(): Connection {
  return useSyncExternalStore(onConnection, connectionNow);
}

const REFRESH_MS = 1_000;

/**
 * Calls when some run has changed after what is shown under the key was asked for, at most every `everyMs`. Where a promise comes back,
 * the next call waits for it.
 */
export function useRunChanges(shown: QueryKey, onChange: () => unknown, everyMs = REFRESH_MS): void {
  const tell = useEffectEvent(onChange);
  useEffect(() => {
    const { ask, stop } = throttle(everyMs, () => tell());
    const unwatch = subscribe({ kind: "changes" }, askedTimes.oldestOf(shown), () => ask());
    return () => {
      unwatch();
      stop();
    };
  }, []);
}
