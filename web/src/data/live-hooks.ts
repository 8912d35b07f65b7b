import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import { connectionNow, onConnection, subscribe, watchChanges } from "./live.ts";
import type { Connection, LiveEvent, Subscription } from "./live-types.ts";
import { throttle } from "./throttle.ts";

/**
 * Hears of what the subscription names while the component is there; undefined for nothing. It is compared by its content, so it may be made anew on every draw; the
 * latest `onEvent` is the one that is called.
 */
export function useLive(subscription: Subscription | undefined, onEvent: (event: LiveEvent) => void): void {
  const tell = useEffectEvent(onEvent);
  const key = JSON.stringify(subscription, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  useEffect(() => {
    if (subscription === undefined) return undefined;
    return subscribe(subscription, (event) => tell(event));
    // The key stands for the subscription.
  }, [key]);
}

export function useConnection(): Connection {
  return useSyncExternalStore(onConnection, connectionNow);
}

const REFRESH_MS = 1_000;

/** Calls when some run has changed, at most once a second. */
export function useRunChanges(onChange: () => void): void {
  const tell = useEffectEvent(onChange);
  useEffect(() => {
    const { ask, stop } = throttle(REFRESH_MS, () => tell());
    const unwatch = watchChanges(() => ask());
    return () => {
      unwatch();
      stop();
    };
  }, []);
}
